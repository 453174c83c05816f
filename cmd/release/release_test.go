package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// made makes a release of small programs and documents, and returns its files.
func made(t *testing.T, modules []module) (*release, map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "docs", "man", "kubectl-operator.1"), []byte("man"))
	put(t, filepath.Join(dir, "docs", "completions", "bash"), []byte("bash"))
	args := []string{
		"-version", "v1.2.3", "-commit", strings.Repeat("ab", 20), "-time", "1700000000",
		"-source", filepath.Join("..", ".."), "-docs", filepath.Join(dir, "docs"), "-out", filepath.Join(dir, "out"),
	}
	for _, platform := range platforms {
		program := filepath.Join(dir, platform)
		put(t, program, []byte("program for "+platform))
		args = append(args, platform+"="+program)
	}
	r, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(modules); err != nil {
		t.Fatal(err)
	}
	return r, filesOf(t, r.out)
}

// put writes a file, and the directories above it.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, entry := range entries {
		if out[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var someModules = []module{
	{path: "example.com/a", version: "v1.0.0", licences: []licence{{"LICENSE", "MIT", "the terms"}}},
	{path: "example.com/b", version: "v2.0.0", licences: []licence{{"LICENSE", "MIT", "the terms"}, {"NOTICE", "", "a notice"}}},
}

func TestTheSameProgramsAreTheSameRelease(t *testing.T) {
	_, first := made(t, someModules)
	_, second := made(t, someModules)
	if len(first) != len(platforms)+4 {
		t.Errorf("files: %d", len(first))
	}
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s is another one", name)
		}
	}
}

func TestAnArchiveHoldsAllThatAnInstallationNeeds(t *testing.T) {
	_, files := made(t, someModules)
	want := []string{"LICENSE", "README.md", "THIRD_PARTY", "completions/bash", "kubectl-operator", "kubectl_complete-operator", "man/kubectl-operator.1"}
	if got := tarMembers(t, files["kubectl-operator_1.2.3_darwin_arm64.tar.gz"]); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	archive := files["kubectl-operator_1.2.3_windows_amd64.zip"]
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.File {
		got = append(got, f.Name)
	}
	want = []string{"LICENSE", "README.md", "THIRD_PARTY", "completions/bash", "kubectl-operator.exe", "kubectl_complete-operator.cmd", "man/kubectl-operator.1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func tarMembers(t *testing.T, archive []byte) []string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Uname != "" || !header.ModTime.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s is of user %d %q at %s", header.Name, header.Uid, header.Uname, header.ModTime)
		}
		out = append(out, header.Name)
	}
}

// krew, Homebrew, the bill of materials and the checksums describe each archive correctly.
func TestEveryManifestHasTheChecksumsOfTheArchives(t *testing.T) {
	r, files := made(t, someModules)
	var krew struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector struct{ MatchLabels struct{ OS, Arch string } }
				URI      string
				SHA256   string
				Bin      string
			}
		}
	}
	if err := yaml.Unmarshal(files["operator.yaml"], &krew); err != nil {
		t.Fatal(err)
	}
	if krew.Spec.Version != "v1.2.3" || len(krew.Spec.Platforms) != len(platforms) {
		t.Fatalf("%+v", krew)
	}
	var bill spdxDocument
	if err := json.Unmarshal(files[r.billName()], &bill); err != nil {
		t.Fatal(err)
	}
	for i, b := range r.builds {
		sum := fmt.Sprintf("%x", sha256.Sum256(files[b.archive]))
		if p := krew.Spec.Platforms[i]; p.SHA256 != sum || p.URI != r.download(b) || p.Selector.MatchLabels.OS != b.os || (b.os == "windows") != strings.HasSuffix(p.Bin, ".exe") {
			t.Errorf("krew has %+v for %s", p, b.archive)
		}
		if !strings.Contains(string(files[checksums]), sum+"  "+b.archive+"\n") {
			t.Errorf("the checksums lack %s", b.archive)
		}
		if b.os != "windows" && !strings.Contains(string(files["kubectl-operator.rb"]), sum) {
			t.Errorf("the formula lacks %s", b.archive)
		}
		if !slices.ContainsFunc(bill.Packages, func(p spdxPackage) bool { return p.Name == b.archive && p.Checksums[0].Value == sum }) {
			t.Errorf("the bill lacks %s", b.archive)
		}
	}
	ids := map[string]bool{bill.ID: true}
	for _, p := range bill.Packages {
		if ids[p.ID] {
			t.Errorf("the bill has two packages %s", p.ID)
		}
		ids[p.ID] = true
	}
	for _, link := range bill.Relationships {
		if !ids[link.From] || !ids[link.To] {
			t.Errorf("the bill relates %s to %s, which it lacks", link.From, link.To)
		}
	}
}

func TestTermsOfSeveralModulesAreWrittenOnce(t *testing.T) {
	text, err := thirdParty(name, someModules)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"example.com/a v1.0.0: MIT\n    LICENSE [1]\n", "example.com/b v2.0.0: MIT\n    LICENSE [1], NOTICE [2]\n", "[2]\n\na notice\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if strings.Count(string(text), "the terms") != 1 {
		t.Errorf("%s", text)
	}
}

func TestWhatMakesNoReleaseIsRefused(t *testing.T) {
	good := []string{"-version", "v1.2.3", "-commit", strings.Repeat("0", 40), "-time", "1", "-docs", "d", "-out", "o", "-source", filepath.Join("..", "..")}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no program", good, "at least one OS/ARCH=PROGRAM"},
		{"a program without a platform", append(good[:len(good):len(good)], "program"), "want OS/ARCH=PROGRAM"},
		{"a version with a slash", append([]string{"-version", "../v1"}, append(good[2:len(good):len(good)], "linux/amd64=p")...), "want a version such as v1.2.3"},
		{"a short commit", append(append([]string{"-commit", "abc"}, append(good[:2:2], good[4:]...)...), "linux/amd64=p"), "want 40 hexadecimal digits"},
		{"no time", append(append(good[:4:4], good[6:]...), "linux/amd64=p"), "the time of the commit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A module whose terms are not known may not be released with the program.
func TestSlowEveryLinkedModuleHasKnownTerms(t *testing.T) {
	slowtest.Skip(t, "the terms of every linked module")
	var builds []build
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "/")
		builds = append(builds, build{os: system, arch: arch})
	}
	modules, err := linked(filepath.Join("..", ".."), "./cmd/"+name, builds)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 100 {
		t.Errorf("only %d modules are linked", len(modules))
	}
	for _, m := range modules {
		if m.identifiers() == "" {
			t.Errorf("%s has no terms", m.path)
		}
	}
}

// The plugin of PipeCD is its own module, with its own list next to the program.
func TestSlowThePluginOfPipeCDHasAListOfItsModules(t *testing.T) {
	slowtest.Skip(t, "listing the packages of another module")
	list := filepath.Join(t.TempDir(), "THIRD_PARTY")
	if err := run([]string{"-third-party", list, "-source", filepath.Join("..", "piped-plugin"), "linux/amd64=bin/piped-plugin"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"piped-plugin is linked with", "github.com/pipe-cd/piped-plugin-sdk-go v", "github.com/pipe-cd/pipecd v", "google.golang.org/grpc v", "k8s.io/client-go v", "Apache-2.0"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it does not have %q", want)
		}
	}
	if strings.Contains(string(text), ownModule) {
		t.Error("it has this repository's own module")
	}
	if err := run([]string{"-third-party", list}); err == nil {
		t.Error("the licences of nothing")
	}
}

// A package of a distribution is installed into its own directory, and runs; one whose
// bytes were changed is not what the checksums say.
func TestSlowAPackageInstallsAndRuns(t *testing.T) {
	slowtest.Skip(t, "packages of distributions")
	bin := filepath.Join("..", "..", "bin")
	program, packager, docs := filepath.Join(bin, name), filepath.Join(bin, name+"-packages"), filepath.Join(bin, "docs")
	for _, path := range []string{program, packager, docs} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%v: make build packager docs", err)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	out, root := t.TempDir(), t.TempDir()
	absolute, err := filepath.Abs(packager)
	if err != nil {
		t.Fatal(err)
	}
	r, err := parse([]string{
		"-version", "v1.2.3", "-commit", strings.Repeat("0", 40), "-time", "1700000000", "-source", filepath.Join("..", ".."),
		"-docs", docs, "-out", out, "-packager", absolute, "linux/" + runtime.GOARCH + "=" + program,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(someModules); err != nil {
		t.Fatal(err)
	}
	deb := filepath.Join(out, "kubectl-operator_1.2.3_"+runtime.GOARCH+".deb")
	execute(t, "mkdir", "-p", filepath.Join(root, "var/lib/dpkg/info"), filepath.Join(root, "var/lib/dpkg/updates"))
	execute(t, "touch", filepath.Join(root, "var/lib/dpkg/status"))
	execute(t, "dpkg", "--root="+root, "--force-not-root", "--force-bad-path", "--log=/dev/null", "--install", deb)
	if text := execute(t, filepath.Join(root, "usr/bin", name), "version"); !strings.Contains(text, "(ruleset ") {
		t.Errorf("got %q", text)
	}
	for _, file := range []string{"usr/bin/kubectl_complete-operator", "usr/share/man/man1/kubectl-operator.1.gz", "usr/share/doc/kubectl-operator/copyright", "usr/share/bash-completion/completions/kubectl-operator"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	files := installedFiles(t, root)
	if len(files) < 20 || !strings.HasPrefix(files["/usr/bin/"+name], "0755 ") {
		t.Errorf("dpkg installed %v", files)
	}
	checkPackages(t, out, map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH], files)
	checksumsHold := func() error {
		cmd := exec.Command("sha256sum", "--check", "--quiet", checksums)
		cmd.Dir = out
		return cmd.Run()
	}
	if err := checksumsHold(); err != nil {
		t.Errorf("sha256sum --check: %v", err)
	}
	data, err := os.ReadFile(deb)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(deb, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if checksumsHold() == nil {
		t.Error("sha256sum --check takes a package of other bytes")
	}
}

func execute(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// GoReleaser publishes what "make release" has made, and nothing that was changed since.
func TestWhatIsPublishedIsWhatWasMade(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Before   struct{ Hooks []string }
		Builds   []struct{ Skip bool }
		Checksum struct{ Disable bool }
		Release  struct {
			Files []struct{ Glob string } `json:"extra_files"`
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || !config.Builds[0].Skip || !config.Checksum.Disable || len(config.Release.Files) != 1 || config.Release.Files[0].Glob != "bin/release/*" {
		t.Errorf("it makes files of its own, or publishes others: %+v", config)
	}
	script, isShell := strings.CutPrefix(strings.Join(config.Before.Hooks, "\n"), "sh -c '")
	if len(config.Before.Hooks) != 1 || !isShell {
		t.Fatalf("before it publishes: %q", config.Before.Hooks)
	}
	_, files := made(t, someModules)
	dir := t.TempDir()
	release := filepath.Join(dir, "bin", "release")
	publishes := func() bool {
		cmd := exec.Command("sh", "-c", strings.TrimSuffix(script, "'"))
		cmd.Dir = dir
		return cmd.Run() == nil
	}
	if publishes() {
		t.Error("it publishes what nothing was made of")
	}
	for file, data := range files {
		put(t, filepath.Join(release, file), data)
	}
	put(t, filepath.Join(release, checksums+".sigstore.json"), []byte("the signature of the checksums"))
	if !publishes() {
		t.Error("it refuses what was made")
	}
	put(t, filepath.Join(release, "operator.yaml"), append(files["operator.yaml"], '\n'))
	if publishes() {
		t.Error("it publishes a file with another byte")
	}
}

// The setup action looks for archives by name, and trusts the signature of one workflow.
func TestTheSetupActionFindsWhatAReleaseHas(t *testing.T) {
	actions := filepath.Join("..", "..", ".github")
	script, err := os.ReadFile(filepath.Join(actions, "actions", "setup", "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile(filepath.Join(actions, "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), `/workflows/release\.yml@`) || !strings.Contains(string(workflow), "checksums.txt.sigstore.json") {
		t.Error("the action does not verify what the workflow signs")
	}
	var parsed map[string]any
	if err := yaml.Unmarshal(workflow, &parsed); err != nil || parsed["jobs"] == nil {
		t.Errorf("the workflow: %v", err)
	}
	_, pattern, _ := strings.Cut(string(script), `grep -E "`)
	pattern, _, _ = strings.Cut(pattern, `" "$directory`)
	r, files := made(t, someModules)
	for _, b := range r.builds {
		_, suffix, _ := strings.Cut(b.archive, "_"+b.os+"_"+b.arch+".")
		line := strings.NewReplacer("${os}", b.os, "${arch}", b.arch, "$suffix", suffix, `\$`, "$").Replace(pattern)
		found := regexp.MustCompile("(?m)"+line).FindAll(files[checksums], -1)
		if len(found) != 1 || !strings.HasSuffix(string(found[0]), b.archive) {
			t.Errorf("%s finds %q for %s", line, found, b.archive)
		}
	}
}
