# SPDX-License-Identifier: Apache-2.0
"""Drives the screen of `pillion top` on a terminal of 80 x 24, and prints checks. ARGUMENTS: the command."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

ROWS, COLUMNS, PATIENCE = 24, 80, 100


def check(fact, text, seen=''):
    print(('ok - ' if fact else 'not ok - ') + text)
    if not fact:
        print('# ' + repr(seen))


class Screen:
    """What a terminal shows of the few sequences that the screen is written with."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM='xterm', NO_COLOR='1')
            os.execv(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
        self.raw, self.lines, self.row, self.column, self.is_wide = b'', [''] * ROWS, 0, 0, False

    def put(self, text):
        for part in re.findall(r'\033\[[?0-9;]*[A-Za-z]|\r|\n|[^\033\r\n]+', text):
            if part == '\r':
                self.column = 0
            elif part == '\n':
                self.row += 1
            elif part[0] == '\033':
                self.control(part[2:-1], part[-1])
            else:
                line = self.lines[self.row] if self.row < ROWS else ''
                line = line[:self.column].ljust(self.column) + part + line[self.column + len(part):]
                self.column += len(part)
                self.is_wide |= len(line) > COLUMNS or self.row >= ROWS
                if self.row < ROWS:
                    self.lines[self.row] = line

    def control(self, value, final):
        if final == 'H':
            self.row, self.column = [int(n) - 1 for n in value.split(';')] if value else (0, 0)
        elif final == 'K':
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif final == 'J':
            self.lines[self.row:] = [self.lines[self.row][:self.column]] + [''] * (ROWS - self.row - 1)

    def text(self):
        return '\n'.join(line.rstrip() for line in self.lines)

    def read(self, seconds):
        """Returns whether there is more to come."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += part
        self.put(part.decode('utf-8', 'replace'))
        return bool(part)

    def shows(self, pattern):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if re.search(pattern, self.text(), re.M):
                return True
            if not self.read(1):
                return False
        return False

    def press(self, keys):
        os.write(self.fd, keys.encode())


def main():
    s = Screen(sys.argv[1:])
    check(s.shows(r'^pillion top \d\d:\d\d:\d\d  1 process  CPU'), 'the first line', s.text())
    check(s.shows(r'^ +PID +CPU% +WAIT% +RSS +RD/s +WR/s LINE$'), 'the titles', s.text())
    check(s.shows(r'^ +\d+ +0\.0 +100\.0 .* wait_here \(.*load\.c:\d+\)$'), 'the process and its line', s.text())
    with open('screen.txt', 'w') as f:
        f.write(s.text() + '\n')
    s.press('>')
    check(s.shows(r'sort: WAIT%'), '> sorts by the next column', s.text())
    s.press('<<')
    check(s.shows(r'sort: PID'), '< by the one before', s.text())
    s.press('j')
    check(s.shows(r'^> +\d+'), 'a process is selected', s.text())
    s.press('\n')
    check(s.shows(r'^ +\d+ top_load +pause .* wait_here'), 'Enter shows its threads and their calls', s.text())
    s.press('f')
    check(s.shows(r'^ TIME% +TIME FILE$'), 'f shows files', s.text())
    s.press('l')
    check(s.shows(r'^ TIME% +TIME LINE$'), 'l shows lines', s.text())
    s.press('l')
    check(s.shows(r'^ +PID'), 'and again the processes', s.text())
    s.press('d')
    check(s.shows(r'load\.dump1\.pillion$'), 'd dumps what was recorded, and shows where', s.text())
    s.press('/nothing')
    check(s.shows(r'^filter: nothing_$'), 'a filter is typed', s.text())
    s.press('\n')
    check(s.shows(r'/ filter: nothing'), 'and entered', s.text())
    check(not re.search('top_load', s.text()), 'what does not match it is not shown', s.text())
    check(not s.is_wide, 'nothing is wider than the terminal')
    check(not re.search(rb'\033\[[0-9;]+m', s.raw), 'NO_COLOR: no colours')
    s.press('q')
    while s.read(1):
        pass
    check(os.waitstatus_to_exitcode(os.waitpid(s.pid, 0)[1]) == 0, 'q ends it')
    check(s.raw.endswith(b'\033[?25h\033[?1049l'), 'the terminal is as before', s.raw[-40:])


main()
