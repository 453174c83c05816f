package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"
)

// maxOrder is the most bytes of an order, the line of JSON that names the task; real
// ones are far shorter.
const maxOrder = 4 << 10

// Main runs the task that this process was started for by [Run], and exits. In any
// other process it returns at once.
func Main(tasks ...Task) {
	if len(os.Args) != 2 || os.Args[1] != marker {
		willing.Store(true)
		return
	}
	if err := serve(os.Stdin, os.Stdout, tasks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve reads the order, sandboxes this process for good, runs the task, and writes its
// report and output.
func serve(in io.Reader, out io.Writer, tasks []Task) error {
	from := bufio.NewReaderSize(in, maxOrder)
	line, err := from.ReadSlice('\n')
	if err != nil {
		return errors.New("no order: this command is for the program itself")
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return fmt.Errorf("unreadable order: %w", err)
	}
	work := find(tasks, o.Task)
	if work == nil {
		return fmt.Errorf("no task %q", o.Task)
	}
	// The parent ends this process in time; should it be gone, this does.
	time.AfterFunc(o.Time+time.Second, func() { os.Exit(1) })
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(o.Memory - o.Memory/8) // collects harder before it fails
	os.Stdout = os.Stderr                       // what a library prints is no answer
	refuseNetwork()
	answer := report{Isolation: "child process; " + confine(o.Memory)}
	input, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	output, err := recoverPanic(work, input)
	if err != nil {
		answer.Error, output = orElse(err.Error(), "it fails without saying why"), nil
	}
	head, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(head, '\n')); err != nil {
		return err
	}
	_, err = out.Write(output)
	return err
}

func find(tasks []Task, name string) func([]byte) ([]byte, error) {
	for _, t := range tasks {
		if t.Name == name {
			return t.Work
		}
	}
	return nil
}

// recoverPanic calls work and returns its panic as an error.
func recoverPanic(work func([]byte) ([]byte, error), input []byte) (output []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, err = nil, fmt.Errorf("the library that reads it panics: %.300v", p)
		}
	}()
	return work(input)
}

var errNetwork = errors.New("the network may not be used here")

type refusingTransport struct{}

func (refusingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNetwork }

// refuseNetwork makes Go's default HTTP transport and name resolver fail, which
// protects libraries that use them even on systems without a stronger sandbox.
func refuseNetwork() {
	http.DefaultTransport = refusingTransport{}
	http.DefaultClient = &http.Client{Transport: refusingTransport{}}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errNetwork
	}}
}

func orElse(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
