package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
)

// agekey NAME makes an age key: NAME.key has its secret half, the variable
// NAME_RECIPIENT its public one.
func ageKeyCommand(ts *testscript.TestScript, _ bool, args []string) {
	identity, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), []byte("# made for a test\n"+identity.String()+"\n"), 0o600))
	ts.Setenv(args[0]+"_RECIPIENT", identity.Recipient().String())
}

// eventually CODE PATTERN COMMAND... repeats a command until it exits with the
// code and what it says matches: with 0 its standard output, else its standard
// error.
func eventuallyCommand(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[1])
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ts.Exec(args[2], args[3:]...)
		var exit *exec.ExitError
		switch {
		case err == nil && args[0] == "0" && pattern.MatchString(ts.ReadFile("stdout")),
			errors.As(err, &exit) && strconv.Itoa(exit.ExitCode()) == args[0] && pattern.MatchString(ts.ReadFile("stderr")):
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("it never exited with %s and said %s", args[0], args[1])
		}
		<-tick.C
	}
}

// append FILE TEXT adds a line to a file.
func appendCommand(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = file.WriteString(args[1] + "\n")
	ts.Check(errors.Join(err, file.Close()))
}

// truncate FILE N TO copies the first N bytes of a file.
func truncateCommand(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data[:n], 0o600))
}

// editplan FROM TO OLD NEW copies a plan file with another plan.json.
func editPlanCommand(ts *testscript.TestScript, _ bool, args []string) {
	from, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { _ = from.Close() }()
	unzipped, err := gzip.NewReader(from)
	ts.Check(err)
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	in, w := tar.NewReader(unzipped), tar.NewWriter(zipped)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		data, err := io.ReadAll(in)
		ts.Check(err)
		if header.Name == "plan.json" {
			if !strings.Contains(string(data), args[2]) {
				ts.Fatalf("plan.json has no %q", args[2])
			}
			data = []byte(strings.ReplaceAll(string(data), args[2], args[3]))
		}
		header.Size = int64(len(data))
		ts.Check(w.WriteHeader(header))
		_, err = w.Write(data)
		ts.Check(err)
	}
	ts.Check(errors.Join(w.Close(), zipped.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// login FILE writes a Docker config file with the login of the registry.
func loginCommand(ts *testscript.TestScript, _ bool, args []string) {
	text := fmt.Sprintf(`{"auths":{%q:{"auth":"bWU6aHVudGVyMg=="}}}`, ts.Getenv("REGISTRY")) // me:hunter2
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// planref VAR sets a variable to the reference that preview --out printed.
func planRefCommand(ts *testscript.TestScript, _ bool, args []string) {
	match := regexp.MustCompile(`(?m)^plan saved as (oci://\S+@sha256:[0-9a-f]{64})$`).FindStringSubmatch(ts.ReadFile("stderr"))
	if match == nil {
		ts.Fatalf("stderr names no plan")
	}
	ts.Setenv(args[0], match[1])
}

// artifact REF TYPE MEDIATYPE DIGEST RELEASE asserts what anybody sees of a plan
// in a registry with TLS.
func artifactCommand(ts *testscript.TestScript, _ bool, args []string) {
	repo, digest, _ := strings.Cut(strings.TrimPrefix(args[0], "oci://"+ts.Getenv("REGISTRY")+"/"), "@")
	request, err := http.NewRequest(http.MethodGet, "https://"+ts.Getenv("REGISTRY")+"/v2/"+repo+"/manifests/"+digest, nil)
	ts.Check(err)
	request.SetBasicAuth("me", "hunter2")
	response, err := ts.Value(registryKey{}).(*scriptRegistry).server.Client().Do(request)
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	var m struct {
		ArtifactType string
		Config       struct{ MediaType string }
		Layers       []struct{ MediaType string }
		Annotations  map[string]string
	}
	ts.Check(json.NewDecoder(response.Body).Decode(&m))
	got := fmt.Sprint(m.ArtifactType, m.Config.MediaType, m.Layers, m.Annotations["kubectl-operator/digest"], m.Annotations["kubectl-operator/release"], len(m.Annotations["kubectl-operator/content-digest"]))
	want := fmt.Sprint(args[1], "application/vnd.oci.empty.v1+json", []struct{ MediaType string }{{args[2]}}, args[3], args[4], 71)
	if got != want {
		ts.Fatalf("the artifact is\n%s, want\n%s", got, want)
	}
}
