package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Main(
		Task{"echo", func(in []byte) ([]byte, error) { fmt.Println("chatter"); return in, nil }},
		Task{"fail", func(in []byte) ([]byte, error) { return nil, errors.New(string(in)) }},
		Task{"panic", func([]byte) ([]byte, error) { panic("no such luck") }},
		Task{"panic elsewhere", func([]byte) ([]byte, error) { go panic("no such luck"); select {} }},
		Task{"forever", func([]byte) ([]byte, error) { select {} }},
		Task{"memory", func([]byte) ([]byte, error) { return allocate(), nil }},
		Task{"recurse", func([]byte) ([]byte, error) { return []byte{recurse(0)}, nil }},
		Task{"flood", func([]byte) ([]byte, error) { return make([]byte, 2<<20), nil }},
		Task{"environment", func([]byte) ([]byte, error) { return []byte(strings.Join(os.Environ(), "\n")), nil }},
		Task{"pid", func([]byte) ([]byte, error) {
			pid := os.Getpid()
			return []byte{byte(pid), byte(pid >> 8), byte(pid >> 16)}, nil
		}},
		Task{"try", try},
	)
	os.Exit(m.Run())
}

// allocate holds on to what it makes, and writes to it.
func allocate() []byte {
	var held [][]byte
	for {
		held = append(held, bytes.Repeat([]byte{1}, 1<<20))
		if len(held) > 1<<20 {
			return held[0]
		}
	}
}

func recurse(n int) byte {
	var frame [1 << 10]byte
	frame[n%len(frame)] = recurse(n+1) + 1 //nolint:staticcheck // a limit ends it
	return frame[(n*7)%len(frame)]
}

// try does what a confined process must not be able to, and says how it went.
func try(in []byte) ([]byte, error) {
	what, argument, _ := strings.Cut(string(in), " ")
	var err error
	switch what {
	case "http":
		_, err = http.Get(argument)
	case "client":
		_, err = (&http.Client{}).Get(argument)
	case "lookup":
		_, err = net.DefaultResolver.LookupHost(context.Background(), argument)
	case "dial":
		_, err = net.DialTimeout("tcp", argument, time.Second)
	case "read":
		_, err = os.ReadFile(argument)
	case "write":
		err = os.WriteFile(argument, []byte("x"), 0o600)
	case "program":
		err = exec.Command(argument).Run()
	case "kill":
		err = (&os.Process{Pid: os.Getppid()}).Kill()
	}
	if err == nil {
		return []byte("done"), nil
	}
	return nil, err
}

func TestATaskSeesItsInputAndAnswers(t *testing.T) {
	got, err := Run(t.Context(), Request{Task: "echo", Input: []byte("a\nb")})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Output) != "a\nb" {
		t.Errorf("got %q; what is printed must not get into it", got.Output)
	}
	want := "child process; no stronger isolation on this system"
	if runtime.GOOS == "linux" {
		want = "child process; seccomp: no files, no sockets, no programs"
	}
	if got.Isolation != want {
		t.Errorf("isolation %q, want %q", got.Isolation, want)
	}
}

func TestATaskInheritsNoEnvironment(t *testing.T) {
	t.Setenv("SECRET", "of the caller")
	got, err := Run(t.Context(), Request{Task: "environment"})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Output) != "LANG=C" {
		t.Errorf("it sees %q", got.Output)
	}
}

func TestWhatGoesWrongIsOneSentence(t *testing.T) {
	for _, c := range []struct {
		name    string
		request Request
		want    string
	}{
		{"the task's own error", Request{Task: "fail", Input: []byte("field x is odd")}, "field x is odd"},
		{"an error without text", Request{Task: "fail"}, "it fails without saying why"},
		{"a panic", Request{Task: "panic"}, "the library that reads it panics: no such luck"},
		{"a panic nobody can recover from", Request{Task: "panic elsewhere"}, "its confined process ended early: panic: no such luck"},
		{"too slow", Request{Task: "forever", Time: 200 * time.Millisecond}, "it takes longer than 200ms"},
		{"too much memory", Request{Task: "memory", Memory: 128 << 20}, "it needs more than 128 MiB of memory"},
		{"endless recursion", Request{Task: "recurse"}, "it calls itself without end"},
		{"too much output", Request{Task: "flood", Answer: 1 << 20}, "it makes more than 1 MiB of output"},
		{"a task nobody knows", Request{Task: "none"}, `its confined process ended early: no task "none"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), c.request)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestACancelledCallerIsToldSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	if _, err := Run(ctx, Request{Task: "forever"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAChildReachesNothing(t *testing.T) {
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	inside, outside := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(inside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		works   bool // for anybody else, so that the test can fail
		seccomp bool // needs it
	}{
		{"http " + server.URL, true, false},
		{"client " + server.URL, true, false},
		{"lookup example.com", false, false},
		{"dial " + server.Listener.Addr().String(), true, true},
		{"read " + inside, true, true},
		{"write " + outside, true, true},
		{"program /bin/sh", true, true},
		{"kill", false, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.seccomp && runtime.GOOS != "linux" {
				t.Skip("skipped: only the refusing defaults hold on " + runtime.GOOS)
			}
			if c.works {
				if _, err := try([]byte(c.what)); err != nil {
					t.Fatalf("out here it fails too: %v", err)
				}
			}
			before := hits.Load()
			if _, err := Run(t.Context(), Request{Task: "try", Input: []byte(c.what)}); err == nil {
				t.Error("it got through")
			}
			if after := hits.Load(); after != before {
				t.Errorf("%d connections", after-before)
			}
		})
	}
}

// The limits where the system offers no stronger isolation.
func TestTheDefaultsOfLibrariesRefuseByThemselves(t *testing.T) {
	transport, client, resolver := http.DefaultTransport, http.DefaultClient, net.DefaultResolver
	defer func() { http.DefaultTransport, http.DefaultClient, net.DefaultResolver = transport, client, resolver }()
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	refuseNetwork()
	for _, what := range []string{"http " + server.URL, "client " + server.URL, "lookup example.com"} {
		if _, err := try([]byte(what)); err == nil || !strings.Contains(err.Error(), errNetwork.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d connections", hits.Load())
	}
}

func TestAChildIsGoneAfterwards(t *testing.T) {
	got, err := Run(t.Context(), Request{Task: "pid"})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-int(got.Output[0])-int(got.Output[1])<<8-int(got.Output[2])<<16, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its process group is still there: %v", err)
	}
}
