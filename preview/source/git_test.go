package source_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// repository is a git repository on disk, written with git itself.
type repository struct {
	t   testing.TB
	dir string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not installed")
		}
		t.Skip("skipped: git is not installed")
	}
	r := &repository{t, filepath.Join(t.TempDir(), "org", "repo")}
	must(t, os.MkdirAll(r.dir, 0o700))
	r.git("init", "-q", "-b", "main", ".")
	return r
}

// git runs git in the repository, untouched by the user's configuration.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), gitEnvironment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

var gitEnvironment = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
}

// commit adds files and returns the commit.
func (r *repository) commit(files map[string]string) string {
	r.t.Helper()
	write(r.t, r.dir, files)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x")
	return r.git("rev-parse", "HEAD")
}

// backend is git's own server for the directory that holds org/repo.
func (r *repository) backend() http.Handler {
	r.t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	must(r.t, err)
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: append([]string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(filepath.Dir(r.dir)), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=",
		}, gitEnvironment...),
		Stderr: io.Discard,
	}
}

// serve serves the repository behind a front, which may be nil.
func (r *repository) serve(front func(http.ResponseWriter, *http.Request, http.Handler)) webServer {
	r.t.Helper()
	backend := r.backend()
	return serve(r.t, func(w http.ResponseWriter, q *http.Request) {
		if front == nil {
			backend.ServeHTTP(w, q)
			return
		}
		front(w, q, backend)
	})
}

// allow sets what real forges allow: parts of a repository, and commits by hash.
func (r *repository) allow() {
	r.git("config", "uploadpack.allowFilter", "true")
	r.git("config", "uploadpack.allowAnySHA1InWant", "true")
}

func (s webServer) git(rest string) string { return "git+https://" + s.host + "/org/repo" + rest }

func bundleFiles() map[string]string {
	return map[string]string{"b/manifests/csv.yaml": "csv", "b/metadata/annotations.yaml": "annotations", "README.md": "read me"}
}

func TestGitIsPinnedToACommitAndItsContent(t *testing.T) {
	repo := newRepository(t)
	first := repo.commit(bundleFiles())
	repo.git("tag", "light")
	repo.git("tag", "-a", "-m", "x", "annotated")
	repo.git("branch", "dev/x")
	second := repo.commit(map[string]string{"b/manifests/csv.yaml": "csv 2"})
	third := repo.commit(map[string]string{"b/manifests/csv.yaml": "csv 3"})
	directory := write(t, t.TempDir(), bundleFiles())
	digest, _, err := get(t.Context(), source.Options{}, directory+"/b")
	must(t, err)

	for _, allowed := range []bool{false, true} {
		if allowed {
			repo.allow()
		}
		server := repo.serve(nil)
		for _, test := range []struct{ ref, commit, csv string }{
			{"", third, "csv 3"}, {"?ref=main", third, "csv 3"}, {"?ref=refs/heads/main", third, "csv 3"},
			{"?ref=dev/x", first, "csv"}, {"?ref=light", first, "csv"}, {"?ref=annotated", first, "csv"},
			{"?ref=refs/tags/annotated", first, "csv"}, {"?ref=" + first, first, "csv"}, {"?ref=" + second, second, "csv 2"},
		} {
			for _, where := range []string{server.git(""), "git+file://" + repo.dir} {
				t.Run(fmt.Sprintf("%s allowed=%t %s", test.ref, allowed, where[:9]), func(t *testing.T) {
					o := server.options(t)
					pin, content, err := get(t.Context(), o, where+"//b"+test.ref)
					must(t, err)
					if want := where + "//b?ref=" + test.commit; pin.Source.Reference != want || pin.Source.Kind != "git" {
						t.Errorf("pinned to %+v, want %s", pin.Source, want)
					}
					if got := files(t, content.FS)["manifests/csv.yaml"]; got != test.csv {
						t.Errorf("holds %q, want %q", got, test.csv)
					}
					mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
					if test.commit == first && pin.Source.Digest != digest.Source.Digest {
						t.Errorf("digest %s, that of the same files in a directory is %s", pin.Source.Digest, digest.Source.Digest)
					}
					o.Offline = true
					again, content, err := get(t.Context(), o, where+"//b"+test.ref)
					must(t, err)
					if again.Source != pin.Source || content.Source != pin.Source {
						t.Errorf("offline %+v, before %+v", again.Source, pin.Source)
					}
				})
			}
		}
	}
}

func TestGitReferencesThatAreRefused(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	repo.git("branch", "both")
	repo.git("tag", "both")
	repo.git("branch", strings.Repeat("a", 40))
	must(t, os.Symlink("/etc/passwd", filepath.Join(repo.dir, "b", "link")))
	linked := repo.commit(nil)
	repo.git("rm", "-q", "b/link")
	repo.git("update-index", "--add", "--cacheinfo", "160000,"+linked+",b/sub")
	repo.git("commit", "-q", "-m", "x")
	repo.git("tag", "sub")
	repo.git("tag", "blob", repo.git("hash-object", "README.md"))
	server := repo.serve(nil)
	tests := []struct{ name, text, want string }{
		{"a branch that is a tag", "//b?ref=both", `"both" is a branch`},
		{"a branch that looks like a commit", "//b?ref=" + strings.Repeat("a", 40), "has the form of a commit"},
		{"a name that nothing has", "//b?ref=none", `neither a branch nor a tag "none"`},
		{"half a commit", "//b?ref=" + linked[:10], "all its 40 digits"},
		{"a commit that nobody has", "//b?ref=" + strings.Repeat("1", 40), "holds commit 1111"},
		{"a directory that is not there", "//c", `no directory "c"`},
		{"a directory that is a file", "//README.md", `is a file on the way`},
		{"a symbolic link", "//b?ref=" + linked, `"link" is a symbolic link`},
		{"a submodule", "//b?ref=sub", `"sub" is a submodule`},
		{"a tag of a file", "?ref=blob", "is a blob"},
	}
	for _, test := range tests {
		for _, where := range []string{server.git(""), "git+file://" + repo.dir} {
			t.Run(test.name+" "+where[:9], func(t *testing.T) {
				_, _, err := get(t.Context(), server.options(t), where+test.text)
				if test.name == "a commit that nobody has" && err != nil && strings.Contains(err.Error(), "lacks an object") {
					return // on disk
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want an error with %q", err, test.want)
				}
			})
		}
	}
	for _, text := range []string{"//b?ref=refs/heads/both", "//b?ref=refs/tags/both"} {
		_, _, err := get(t.Context(), server.options(t), server.git(text))
		must(t, err)
	}
	for text, want := range map[string]string{
		"git+file:///missing/repo":                    "no such file",
		"git+file://" + t.TempDir():                   "not a git repository",
		"git+https://" + server.host + "/org/missing": "does not have it (404)",
	} {
		_, _, err := get(t.Context(), server.options(t), text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

func TestGitFetchesADirectoryAlone(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	big := make([]byte, 3<<20)
	for i := range big { // nothing that compresses
		big[i] = byte(i*i>>7 ^ i*31>>3)
	}
	repo.commit(map[string]string{"big": string(big), "b/manifests/csv.yaml": "csv 2"})
	size := func() int64 {
		server := repo.serve(nil)
		o := server.options(t)
		var done int64
		o.Progress = func(p source.Progress) { done += p.Done }
		_, content, err := get(t.Context(), o, server.git("//b"))
		must(t, err)
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		return done
	}
	whole := size()
	repo.allow()
	if part := size(); part*10 > whole {
		t.Errorf("read %d bytes of a part, %d of all", part, whole)
	}
}

func TestABranchThatMovesMeanwhileDoesNotDecide(t *testing.T) {
	for name, move := range map[string][]string{
		"ahead":   {"commit", "-q", "-a", "-m", "y"},
		"rewrite": {"commit", "-q", "-a", "-m", "y", "--amend"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := newRepository(t)
			reviewed := repo.commit(bundleFiles())
			var once atomic.Bool
			server := repo.serve(func(w http.ResponseWriter, q *http.Request, backend http.Handler) {
				if q.Method == http.MethodPost && once.CompareAndSwap(false, true) {
					write(t, repo.dir, map[string]string{"b/manifests/csv.yaml": "moved"})
					repo.git(move...)
				}
				backend.ServeHTTP(w, q)
			})
			pin, content, err := get(t.Context(), server.options(t), server.git("//b?ref=main"))
			if name == "rewrite" { // then the server does not hand it out any more
				mustFail(t, err, "the server refuses")
				return
			}
			must(t, err)
			if !strings.HasSuffix(pin.Source.Reference, "?ref="+reviewed) || files(t, content.FS)["manifests/csv.yaml"] != "csv" {
				t.Errorf("got %+v", pin.Source)
			}
		})
	}
}

func TestASavedGitPinOpensTheSameCommit(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	server := repo.serve(nil)
	pin, _, err := get(t.Context(), server.options(t), server.git("//b?ref=main"))
	must(t, err)
	saved := source.Pin{Source: pin.Source, Reference: pin.Reference}
	repo.commit(map[string]string{"b/manifests/csv.yaml": "moved"})

	content, err := source.New(server.options(t)).Open(t.Context(), saved)
	must(t, err)
	if got := files(t, content.FS)["manifests/csv.yaml"]; got != "csv" || content.Source != pin.Source {
		t.Errorf("got %q, %+v", got, content.Source)
	}
	other := saved
	other.Source.Digest = "sha256:" + strings.Repeat("0", 64)
	if _, err := source.New(server.options(t)).Open(t.Context(), other); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
	other = saved
	other.Source.Reference = server.git("//b?ref=main")
	_, err = source.New(server.options(t)).Open(t.Context(), other)
	mustFail(t, err, "does not name a commit")

	// History was rewritten: the reviewed commit is gone, and nothing takes its place.
	repo.git("commit", "-q", "--amend", "-m", "y")
	repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", "-m", "z", "HEAD^{tree}"))
	_, err = source.New(server.options(t)).Open(t.Context(), saved)
	mustFail(t, err, "holds commit")
}

func TestADamagedGitCacheIsFetchedAgain(t *testing.T) {
	repo := newRepository(t)
	commit := repo.commit(bundleFiles())
	server := repo.serve(nil)
	o := server.options(t)
	text := server.git("//b?ref=" + commit)
	pin, _, err := get(t.Context(), o, text)
	must(t, err)
	blobs, err := filepath.Glob(filepath.Join(o.CacheDir, "blobs", "sha256", "*"))
	must(t, err)
	if len(blobs) != 1 {
		t.Fatalf("the cache holds %v", blobs)
	}
	damage := func() {
		t.Helper()
		data, err := os.ReadFile(blobs[0])
		must(t, err)
		data[len(data)/2] ^= 1
		must(t, os.WriteFile(blobs[0], data, 0o600))
	}
	damage()
	offline := o
	offline.Offline = true
	if _, _, err = get(t.Context(), offline, text); !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v, want not cached", err)
	}
	again, _, err := get(t.Context(), o, text)
	must(t, err)
	if again.Source != pin.Source {
		t.Errorf("got %+v, want %+v", again.Source, pin.Source)
	}
}

func TestGitServersThatCannotBeTrusted(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	tests := []struct {
		name, want string
		front      func(http.ResponseWriter, *http.Request, http.Handler)
	}{
		{"one that wants credentials", "refuses access (401)", func(w http.ResponseWriter, q *http.Request, backend http.Handler) {
			if _, password, _ := q.BasicAuth(); password != "t0ken" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			backend.ServeHTTP(w, q)
		}},
		{"a web page", "not a git server", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte("<html>log in</html>"))
		}},
		{"an empty answer", "not a git server", func(http.ResponseWriter, *http.Request, http.Handler) {}},
		{"a redirect to another page", "redirects to something", func(w http.ResponseWriter, q *http.Request, _ http.Handler) {
			if q.URL.Path == "/login" {
				_, _ = w.Write([]byte("log in"))
				return
			}
			http.Redirect(w, q, "/login", http.StatusFound)
		}},
		{"a pack that breaks off", "the pack ends too early", tamper(func(b []byte) []byte { return b[:len(b)*3/4] })},
		{"a pack with one bit changed", "", tamper(func(b []byte) []byte {
			b[len(b)*3/4] ^= 4
			return b
		})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := repo.serve(test.front)
			_, _, err := get(t.Context(), server.options(t), server.git("//b"))
			mustFail(t, err, test.want)
		})
	}
	t.Run("one that gets its token", func(t *testing.T) {
		t.Setenv(hostToken, "t0ken")
		server := repo.serve(tests[0].front)
		_, _, err := get(t.Context(), server.options(t), server.git("//b"))
		must(t, err)
	})
	t.Run("a repository that moved on the same host", func(t *testing.T) {
		server := repo.serve(func(w http.ResponseWriter, q *http.Request, backend http.Handler) {
			if rest, old := strings.CutPrefix(q.URL.Path, "/old/name"); old {
				http.Redirect(w, q, "/org/repo"+rest+"?"+q.URL.RawQuery, http.StatusMovedPermanently)
				return
			}
			backend.ServeHTTP(w, q)
		})
		_, _, err := get(t.Context(), server.options(t), "git+https://"+server.host+"/old/name//b")
		must(t, err)
	})
}

func TestARepositoryThatMovedToAnotherHostGetsNoCredentials(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	t.Setenv(hostToken, "t0ken")
	var asked atomic.Int32
	other := repo.serve(func(w http.ResponseWriter, q *http.Request, backend http.Handler) {
		if asked.Add(1); q.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		backend.ServeHTTP(w, q)
	})
	first := repo.serve(func(w http.ResponseWriter, q *http.Request, _ http.Handler) {
		http.Redirect(w, q, "https://"+other.host+q.URL.String(), http.StatusFound)
	})
	o := first.options(t)
	o.CAFile = bothRoots(t, first, other)
	pin, _, err := get(t.Context(), o, first.git("//b"))
	must(t, err)
	if asked.Load() != 2 || !strings.HasPrefix(pin.Source.Reference, first.git("//b?ref=")) {
		t.Errorf("asked %d times, pinned to %+v", asked.Load(), pin.Source)
	}
}

// tamper changes the pack that a server sends.
func tamper(change func([]byte) []byte) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, q *http.Request, backend http.Handler) {
		if q.Method != http.MethodPost {
			backend.ServeHTTP(w, q)
			return
		}
		answer := &recorder{header: http.Header{}}
		backend.ServeHTTP(answer, q)
		_, _ = w.Write(change(answer.body))
	}
}

type recorder struct {
	header http.Header
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(int)     {}
func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}

func TestAGitReferenceIsReadWithoutTheUsersConfiguration(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	marker := filepath.Join(t.TempDir(), "ran")
	repo.git("config", "core.fsmonitor", "touch "+marker)
	repo.git("config", "uploadpack.packObjectsHook", "touch "+marker)
	r, err := ref.Parse("git+file://" + repo.dir)
	must(t, err)
	_, err = source.New(source.Options{CacheDir: t.TempDir()}).Pin(t.Context(), r)
	must(t, err)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
}

// Features of git that are not read are named.
func TestGitRepositoriesThatAreNotReadAreNamed(t *testing.T) {
	repo := newRepository(t)
	must(t, os.RemoveAll(filepath.Join(repo.dir, ".git")))
	repo.git("init", "-q", "-b", "main", "--object-format=sha256", ".")
	repo.commit(bundleFiles())
	server := repo.serve(nil)
	for _, text := range []string{server.git("//b"), "git+file://" + repo.dir + "//b"} {
		_, _, err := get(t.Context(), server.options(t), text)
		mustFail(t, err, "named by sha256 (object-format=sha256), which is not supported")
	}

	lender := newRepository(t)
	lender.commit(bundleFiles())
	borrower := filepath.Join(t.TempDir(), "borrower")
	lender.git("clone", "-q", "--shared", lender.dir, borrower)
	_, _, err := get(t.Context(), source.Options{CacheDir: t.TempDir()}, "git+file://"+borrower+"//b")
	mustFail(t, err, "lies in another repository (objects/info/alternates)")
}
