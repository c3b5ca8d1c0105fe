# SPDX-License-Identifier: Apache-2.0
"""Executes a notebook that uses the cell magic and shows a table; prints what its cells show."""
import nbclient
import nbformat

CELLS = ["%load_ext pillion", "%%pillion -t osrt --osrt-threshold=0\nimport os\nos.getppid()\nprint(6 * 7)\n1 / 0",
    "capture = _\ncapture['processes']", "capture.query('SELECT 1 AS one').rows"]

notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.outputs:
        data = output.get("data", {})
        print(output.output_type, output.get("text") or data.get("text/html") or data.get("text/plain"))
