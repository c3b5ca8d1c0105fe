// SPDX-License-Identifier: Apache-2.0

// accounted_go RECORDS SEED: goroutines that compute, sleep and wait for each other, linked to libc. At the end the
// program writes what the kernel has accounted to each of its threads, as accounted.c does, by Go's own system calls.
package main

// #include <unistd.h>
import "C"

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const tick = 10000000

func now(clock uintptr) int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func burn(d time.Duration) {
	x := 1.1
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 100000; i++ {
			x *= 1.0000001
		}
	}
}

func work(seed int64, lock *sync.Mutex, done *sync.WaitGroup) {
	r := rand.New(rand.NewSource(seed))
	if r.Intn(2) == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // or the thread ends with the goroutine
	}
	for i := 0; i < 6; i++ {
		d := time.Duration(1+r.Intn(40)) * time.Millisecond
		switch r.Intn(4) {
		case 0, 1:
			burn(d)
		case 2:
			time.Sleep(d)
		default:
			lock.Lock()
			C.usleep(C.useconds_t(d / time.Microsecond))
			lock.Unlock()
		}
	}
	done.Done()
}

func record(file *os.File, directory string) {
	at := now(1)
	schedule, err := os.ReadFile(directory + "/schedstat")
	stat, _ := os.ReadFile(directory + "/stat")
	if err != nil {
		return
	}
	account := strings.Fields(string(schedule))
	fields := strings.Fields(string(stat)[strings.LastIndex(string(stat), ")")+1:])
	start, _ := strconv.ParseInt(fields[19], 10, 64)
	born := start*tick - (now(7) - now(1))
	fmt.Fprintf(file, "end %d %s %d %d %d %s %s -1 0\n", os.Getpid(), filepath.Base(directory), at, born, born+tick,
		account[0], account[1])
}

func main() {
	var lock sync.Mutex
	var done sync.WaitGroup
	hash := fnv.New64()
	hash.Write([]byte(os.Args[2]))
	r := rand.New(rand.NewSource(int64(hash.Sum64())))
	for i := 1 + r.Intn(6); i > 0; i-- {
		done.Add(1)
		go work(r.Int63(), &lock, &done)
	}
	done.Wait()
	file, err := os.Create(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	directories, _ := filepath.Glob("/proc/self/task/*")
	for _, directory := range directories {
		record(file, directory)
	}
	file.Close()
}
