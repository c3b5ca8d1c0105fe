;; SPDX-License-Identifier: Apache-2.0
;; SBCL: garbage collections, threads, which it stops by signals, and handled stack exhaustion.
(defun fibonacci (n) (if (< n 2) n (+ (fibonacci (- n 1)) (fibonacci (- n 2)))))
(defun garbage (n)
  (let ((total 0))
    (dotimes (i n total)
      (incf total (length (make-array 1000 :initial-element i))))))
(defun endless (n) (+ 1 (endless n)))
(print (fibonacci 30))
(print (mapcar #'sb-thread:join-thread
               (loop repeat 4 collect (sb-thread:make-thread (lambda () (garbage 40000))))))
(sb-ext:gc :full t)
(print (handler-case (endless 1) (sb-kernel::control-stack-exhausted () :exhausted)))
(terpri)
(sb-ext:exit :code 3)
