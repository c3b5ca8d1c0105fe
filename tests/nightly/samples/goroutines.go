// SPDX-License-Identifier: Apache-2.0

// Go: goroutines on several threads, garbage, a caught nil dereference, a signal and a child process.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

type node struct {
	left, right *node
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

func caught() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var n *node
	return fmt.Sprint(n.left)
}

func main() {
	var wait sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			for k := 0; k < 10; k++ {
				sums[i] += tree(15).count()
			}
		}(i)
	}
	wait.Wait()
	fmt.Println(sums)
	fmt.Println(caught())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-signals)
	out, err := exec.Command("/bin/echo", "child").Output()
	fmt.Printf("%s %v\n", out, err)
	os.Exit(4)
}
