package planning_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: app}\nspec: {containers: [{name: c, image: 'app:1'}]}\n"

func tree(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

func references(plan *preview.Plan) []string {
	var out []string
	for _, s := range plan.Packages[0].Sources {
		out = append(out, s.Reference)
	}
	return out
}

func TestABundleThatImgpkgCopiedHasTheImagesOfItsCopy(t *testing.T) {
	sum := "@sha256:" + strings.Repeat("a", 64)
	const original = "registry.example.com/app"
	lock := "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages:\n- image: " + original + sum + "\n  annotations: {kbld.carvel.dev/id: 'app:1'}\n"
	locations := func(images ...string) string {
		text := "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImageLocations\nimages:\n"
		for _, image := range images {
			text += "- {image: " + image + ", isBundle: false}\n"
		}
		return text
	}
	for _, c := range []struct{ name, locations, want, notes string }{
		{name: "not copied", want: original + sum},
		{name: "copied", locations: locations(original + sum), want: "HOST/copy" + sum},
		{name: "copied with another image", locations: locations("registry.example.com/other" + sum), want: original + sum},
		{name: "with locations of another kind", locations: lock, want: original + sum, notes: `image-locations.yml: it is of kind "ImagesLock" of "imgpkg.carvel.dev/v1alpha1", not ImageLocations`},
		{name: "with locations that move to a tag", locations: locations("app:1"), want: original + sum, notes: `images[0]: "app:1" is not an image with its digest`},
	} {
		t.Run(c.name, func(t *testing.T) {
			registry := sourcetest.Plain(t)
			p := offline(t, config.Config{})
			p.Source.PlainHTTP = true
			reference := push(t, registry, "copy:v1", tree(".imgpkg/images.yml", lock, "config/app.yaml", pod))
			if c.locations != "" {
				_, digest, _ := strings.Cut(reference, "@")
				push(t, registry, "copy:"+strings.Replace(digest, ":", "-", 1)+".image-locations.imgpkg", tree("image-locations.yml", c.locations))
			}
			plan, err := planOf(t, p, reference, "app")
			if err != nil {
				t.Fatal(err)
			}
			noted := ""
			for _, f := range plan.Findings {
				if f.Rule == rules.ImagesNotLocated.Name {
					noted += f.Evidence
				}
			}
			if (noted != "") != (c.notes != "") || !strings.Contains(noted, c.notes) {
				t.Errorf("the note %q, want %q", noted, c.notes)
			}
			want := strings.Replace(c.want, "HOST", registry.Host, 1)
			if !strings.Contains(objectText(t, plan, "app"), `"`+want+`"`) {
				t.Errorf("want the image %s in\n%s", want, objectText(t, plan, "app"))
			}
			// The file that --lock-output writes asks for the same.
			lock := filepath.Join(t.TempDir(), "bundle.lock.yml")
			text := "---\napiVersion: imgpkg.carvel.dev/v1alpha1\nkind: BundleLock\nbundle:\n  image: " + reference + "\n  tag: v1\n"
			if err := os.WriteFile(lock, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			locked := planFile(t, p, lock)
			if named := must(t, p, reference, "copy"); locked.ContentDigest != named.ContentDigest || locked.Release != named.Release {
				t.Errorf("by its lock file it is %+v, %s, and by its name %+v, %s", locked.Release, locked.ContentDigest, named.Release, named.ContentDigest)
			}
			if moved := strings.HasPrefix(c.want, "HOST"); (len(references(plan)) == 2) != moved {
				t.Errorf("sources %q", references(plan))
			}
		})
	}
}

// A registry that leads to a private address is refused with the command that allows it.
func TestTheCommandOfAPrivateAddressWorks(t *testing.T) {
	registry := sourcetest.Plain(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Host, "localhost:") && strings.Contains(r.URL.Path, "/blobs/") {
				http.Redirect(w, r, "http://"+strings.Replace(r.Host, "localhost", "127.0.0.1", 1)+r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	pushed := push(t, registry, "app:v1", tree("app.yaml", pod))
	reference := strings.Replace(pushed, "127.0.0.1", "localhost", 1)
	file := filepath.Join(t.TempDir(), "app.lock.yml")
	for _, name := range []string{"by its name", "by a request file"} {
		t.Run(name, func(t *testing.T) {
			p := offline(t, config.Config{})
			p.Source.PlainHTTP, p.Source.PrivateAddresses = true, []string{"10.0.0.1:1"}
			again := "kubectl operator preview " + reference + " app"
			request, err := p.Request(reference, "app")
			if name == "by a request file" {
				text := "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: BundleLock\nbundle: {image: '" + reference + "', tag: v1}\n"
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				again = "kubectl operator preview --filename=" + file
				request, err = p.ReadRequest(t.Context(), file, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			host, _, _ := strings.Cut(pushed, "/")
			_, err = p.Plan(t.Context(), request, nil)
			if want := again + " --allow-private-address=10.0.0.1:1 --allow-private-address=" + host; err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
				t.Fatalf("got\n%v\nwant\n%s", err, want)
			}
			p.Source.PrivateAddresses = append(p.Source.PrivateAddresses, host)
			if _, err := p.Plan(t.Context(), request, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the registry is silent, the plan says so, and has the images of the lock.
func TestLocationsThatCannotBeReadAreANote(t *testing.T) {
	registry := sourcetest.Plain(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".image-locations.imgpkg") {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	p := offline(t, config.Config{})
	p.Source.PlainHTTP = true
	lock := "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages:\n- image: registry.example.com/app@sha256:" + strings.Repeat("a", 64) + "\n  annotations: {kbld.carvel.dev/id: 'app:1'}\n"
	plan := must(t, p, push(t, registry, "copy:v1", tree(".imgpkg/images.yml", lock, "config/app.yaml", pod)), "app")
	if !slices.ContainsFunc(plan.Findings, func(f preview.Finding) bool { return f.Rule == "images-not-located" }) {
		t.Errorf("findings %v", plan.Findings)
	}
}

// chartArchive packs the chart db as "helm package" does, below a directory.
func chartArchive(t *testing.T, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(sourcetest.Tar(t,
		sourcetest.File("db/Chart.yaml", "apiVersion: v2\nname: db\nversion: "+version+"\n"),
		sourcetest.File("db/templates/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {version: "+version+"}\n")))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lockOf is the lock that Helm writes for a chart that depends on db 1.x.
func lockOf(repository, version string) string {
	asked := fmt.Sprintf(`{"name":"db","version":"1.x","repository":%q}`, repository)
	locked := fmt.Sprintf(`{"name":"db","version":%q,"repository":%q}`, version, repository)
	sum := sha256.Sum256([]byte("[[" + asked + "],[" + locked + "]]"))
	return fmt.Sprintf("dependencies:\n- {name: db, repository: '%s', version: %s}\ndigest: sha256:%s\n", repository, version, hex.EncodeToString(sum[:]))
}

func TestADependencyThatTheLockPinsIsFetchedAndSealed(t *testing.T) {
	registry := sourcetest.TLS(t)
	registry.Chart(t, "charts/db", "1.2.3", chartArchive(t, "1.2.3"))
	archives := map[string][]byte{"/db-1.2.3.tgz": chartArchive(t, "1.2.3"), "/db-1.2.4.tgz": chartArchive(t, "1.2.4"), "/db-1.2.5.tgz": chartArchive(t, "9.9.9")}
	web, webCA := sourcetest.HTTPS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			_, _ = w.Write([]byte("apiVersion: v1\nentries:\n  db:\n  - {name: db, version: 1.2.3, urls: [db-1.2.3.tgz]}\n  - {name: db, version: 1.2.4, urls: [db-1.2.4.tgz]}\n  - {name: db, version: 1.2.5, urls: [db-1.2.5.tgz]}\n"))
			return
		}
		_, _ = w.Write(archives[r.URL.Path])
	}))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	var pem []byte
	for _, name := range []string{registry.CAFile, webCA} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pem = append(pem, data...)
	}
	if err := os.WriteFile(ca, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	webHost := strings.TrimPrefix(web.URL, "https://")
	const meta = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: '%s', repository: '%s', condition: %s}]\n"
	const values = "db: {enabled: true}\n"
	// The lock of Helm has the digest of all fields; a condition would be one more.
	chart := func(wanted, repository, lock string) map[string]string {
		return map[string]string{
			"web/Chart.yaml": strings.Replace(fmt.Sprintf(meta, wanted, repository, "X"), ", condition: X", "", 1), "web/Chart.lock": lock, "web/values.yaml": values,
			"web/templates/cm.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
			"local/db/Chart.yaml":        "apiVersion: v2\nname: db\nversion: 1.2.3\n",
			"local/db/templates/db.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {version: 1.2.3}\n",
		}
	}
	oci, classic := "oci://"+registry.Host+"/charts", "https://"+webHost
	for _, c := range []struct {
		name, wanted, repository, lock string
		files                          map[string]string // besides
		path                           string            // empty is web
		alone                          bool              // the chart's directory is the content
		source, fails, condition       string
		refuseAddress                  bool
	}{
		{name: "from a registry", wanted: "1.x", repository: oci, lock: lockOf(oci, "1.2.3"), source: "oci://" + registry.Host + "/charts/db:1.2.3"},
		{name: "from a repository, the locked version and not the newest", wanted: "1.x", repository: classic, lock: lockOf(classic, "1.2.3"), source: "chart+https://" + webHost + "/db?version=1.2.3"},
		{name: "from a directory of the content", wanted: "1.x", repository: "file://../local/db", lock: lockOf("file://../local/db", "1.2.3")},
		{name: "from a directory of the content, without a lock", wanted: "1.x", repository: "file://../local/db"},
		{name: "from charts/, whatever the repository", wanted: "1.x", repository: "https://none.invalid", files: map[string]string{
			"web/charts/db/Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.2.3\n", "web/charts/db/templates/db.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {version: 1.2.3}\n"}},
		{name: "from a directory outside of the content", wanted: "1.x", repository: "file://../local/db", alone: true,
			fails: "it depends on db of file://../local/db, which lies outside of the content; " +
				"with the directory of that chart as CHART: mkdir -p DIR/web/charts && cp -r CHART DIR/web/charts/db && kubectl operator preview DIR/web web; or, if DIR/local/db is there: kubectl operator preview DIR web --path web"},
		{name: "from a directory that is not there", wanted: "1.x", repository: "file://../none",
			fails: "it depends on db of file://../none, which the content does not have; with the directory of that chart as CHART: mkdir -p DIR/web/charts && cp -r CHART DIR/web/charts/db && kubectl operator preview DIR web --path web"},
		{name: "from a directory that is not there, and that a value turns off", wanted: "1.x", repository: "file://../none", condition: "db.enabled",
			fails: "it depends on db of file://../none, which the content does not have; leave it out: kubectl operator preview DIR web --path web --set db.enabled=false"},
		{name: "from a directory with another version", wanted: "2.x", repository: "file://../local/db",
			fails: "it depends on db 2.x, and file://../local/db is db 1.2.3; helm dependency update DIR/web && kubectl operator preview DIR web --path web"},
		{name: "by a range alone", wanted: "1.x", repository: oci,
			fails: "it depends on db 1.x, which its charts/ does not have: no Chart.lock pins it, and no version is chosen from a range; helm dependency update DIR/web && kubectl operator preview DIR web --path web"},
		{name: "by a lock of other dependencies", wanted: "1.2.x", repository: oci, lock: lockOf(oci, "1.2.3"),
			fails: "Chart.yaml and Chart.lock differ: the digest of the lock is of other dependencies; helm dependency update DIR/web && kubectl operator preview DIR web --path web"},
		{name: "an archive that is another version", wanted: "1.x", repository: classic, lock: lockOf(classic, "1.2.5"), fails: "db 9.9.9"},
		{name: "a version that is gone", wanted: "1.x", repository: oci, lock: lockOf(oci, "1.2.9"),
			fails: "does not have it (404, \"MANIFEST_UNKNOWN\"); check name and tag; helm dependency build DIR/web && kubectl operator preview DIR web --path web"},
		{name: "from a server in a private network that only the chart names", wanted: "1.x", repository: oci, lock: lockOf(oci, "1.2.3"), refuseAddress: true,
			fails: "the content leads to the private address " + registry.Host + ", which is refused; --allow-private-address " + registry.Host + " allows it"},
		{name: "from a server without TLS", wanted: "1.x", repository: "http://charts.example.com", lock: lockOf("http://charts.example.com", "1.2.3"),
			fails: `its repository "http://charts.example.com" is neither https:// nor oci://; helm dependency update DIR/web`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := offline(t, config.Config{})
			p.Source.CAFile = ca
			if !c.refuseAddress {
				p.Source.PrivateAddresses = []string{"127.0.0.1"}
			}
			list := chart(c.wanted, c.repository, c.lock)
			if c.lock == "" {
				delete(list, "web/Chart.lock")
			}
			if c.condition != "" {
				list["web/Chart.yaml"] = fmt.Sprintf(meta, c.wanted, c.repository, c.condition)
			}
			for name, text := range c.files {
				list[name] = text
			}
			dir := files(t, list)
			request, err := p.Request(dir, "web")
			if err != nil {
				t.Fatal(err)
			}
			if request.Path = "web"; c.alone {
				if request, err = p.Request(dir+"/web", "web"); err != nil {
					t.Fatal(err)
				}
			}
			plan, err := p.Plan(t.Context(), request, nil)
			if c.fails != "" {
				if want := strings.ReplaceAll(c.fails, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got\n%v\nwant\n%s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := objectText(t, plan, "db"); !strings.Contains(text, "1.2.3") {
				t.Errorf("the object of the dependency: %s", text)
			}
			if got := references(plan)[1:]; c.source == "" && len(got) != 0 || c.source != "" && !slices.Equal(got, []string{c.source}) {
				t.Errorf("sources %q, want %q", got, c.source)
			}
		})
	}
}

// What a dependency depends on is looked for from where the dependency lies, and what is
// missing is left out by the value of the chart that has its values.
func TestADependencyOfADependencyIsFoundBesideIt(t *testing.T) {
	const lacks = "it depends on db/deep 1.x, which its charts/ does not have; "
	chart := func(name, dependencies string) string {
		return "apiVersion: v2\nname: " + name + "\nversion: 1.2.3\ndependencies: [" + dependencies + "]\n"
	}
	object := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {version: 1.2.3}\n"
	}
	for _, c := range []struct {
		name  string
		of    string            // what the dependency depends on
		files map[string]string // besides
		fails string
	}{
		{name: "beside it", of: "{name: deep, version: 1.x, repository: 'file://../deep'}"},
		{name: "in a directory that is not there", of: "{name: deep, version: 1.x, repository: 'file://../none'}",
			fails: "it depends on deep of file://../none, which the content does not have; with the directory of that chart as CHART: mkdir -p DIR/local/db/charts && cp -r CHART DIR/local/db/charts/deep && kubectl operator preview DIR web --path web"},
		{name: "outside of the content, where a value turns it off", of: "{name: deep, version: 1.x, repository: 'file://../../../deep', condition: deep.enabled}",
			fails: "it depends on deep of file://../../../deep, which lies outside of the content; leave it out: kubectl operator preview DIR web --path web --set db.deep.enabled=false"},
		{name: "by a range alone", of: "{name: deep, version: 1.x, repository: 'https://charts.example.com'}",
			fails: "no Chart.lock pins it, and no version is chosen from a range; helm dependency update DIR/local/db && kubectl operator preview DIR web --path web"},
		{name: "and on the chart again", of: "{name: web, version: 1.x, repository: 'file://../../web'}",
			fails: "it depends on web of file://../../web, which depends on itself; take that out of its Chart.yaml"},
		{name: "of a directory of charts/", of: "{name: deep, version: 1.x, repository: 'file://../deep', condition: deep.enabled}",
			files: map[string]string{"web/charts/db/Chart.yaml": chart("db", "{name: deep, version: 1.x, condition: deep.enabled}")},
			fails: lacks + "helm dependency build DIR/web/charts/db && kubectl operator preview DIR web --path web"},
		{name: "of a directory of another name in charts/", of: "{name: deep, version: 1.x, repository: 'file://../deep', condition: deep.enabled}",
			files: map[string]string{"web/charts/db-1.2.3/Chart.yaml": chart("db", "{name: deep, version: 1.x, condition: deep.enabled}")},
			fails: lacks + "leave it out: kubectl operator preview DIR web --path web --set db.deep.enabled=false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := map[string]string{
				"web/Chart.yaml": chart("web", "{name: db, version: 1.x, repository: 'file://../local/db'}"), "web/templates/cm.yaml": object("web"),
				"local/db/Chart.yaml": chart("db", c.of), "local/db/templates/cm.yaml": object("db"),
				"local/deep/Chart.yaml": chart("deep", ""), "local/deep/templates/cm.yaml": object("deep"),
			}
			maps.Copy(list, c.files)
			dir, p := files(t, list), offline(t, config.Config{})
			request, err := p.Request(dir, "web")
			if err != nil {
				t.Fatal(err)
			}
			request.Path = "web"
			plan, err := p.Plan(t.Context(), request, nil)
			switch want := strings.ReplaceAll(c.fails, "DIR", dir); {
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("got\n%v\nwant\n%s", err, want)
			case c.fails == "" && err != nil:
				t.Error(err)
			case c.fails == "":
				objectText(t, plan, "deep")
			}
		})
	}
}

// Charts of the first version have their dependencies in files of their own, and locks of
// Helm 2 the digest of those alone.
func TestADependencyOfRequirementsIsLockedByTheirLock(t *testing.T) {
	const requirements = "dependencies: [{name: db, version: 1.x, repository: 'file://../db'}]\n"
	two := sha256.Sum256([]byte(`{"dependencies":[{"name":"db","version":"1.x","repository":"file://../db"}]}`))
	helm3 := lockOf("file://../db", "1.2.3")
	for _, c := range []struct{ name, lock, fails string }{
		{name: "a lock of Helm 3", lock: helm3},
		{name: "a lock of Helm 2", lock: strings.Split(helm3, "digest: ")[0] + "digest: sha256:" + hex.EncodeToString(two[:]) + "\n"},
		{name: "no lock"},
		{name: "a lock of other requirements", lock: strings.Replace(helm3, "digest: sha256:", "digest: sha256:0", 1), fails: "requirements.yaml and requirements.lock differ: the digest of the lock is of other dependencies"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := map[string]string{
				"web/Chart.yaml": "apiVersion: v1\nname: web\nversion: 1.0.0\n", "web/requirements.yaml": requirements, "web/requirements.lock": c.lock,
				"web/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
				"db/Chart.yaml":         "apiVersion: v1\nname: db\nversion: 1.2.3\n",
				"db/templates/db.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {version: 1.2.3}\n",
			}
			if c.lock == "" {
				delete(list, "web/requirements.lock")
			}
			p := offline(t, config.Config{})
			request, err := p.Request(files(t, list), "web")
			if err != nil {
				t.Fatal(err)
			}
			request.Path = "web"
			plan, err := p.Plan(t.Context(), request, nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			objectText(t, plan, "db")
		})
	}
}

// What content may name elsewhere has a limit of its own for each way.
func TestContentThatRefersToTooMuchIsRefused(t *testing.T) {
	repeat := func(n int, line string) (out string) {
		for i := range n {
			out += strings.ReplaceAll(line, "#", strconv.Itoa(i))
		}
		return out
	}
	const chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"dependencies of a chart", map[string]string{"Chart.yaml": chart + "dependencies:\n" + repeat(101, "- {name: d#, version: 1.0.0, repository: 'oci://registry.example.com/charts'}\n"), "templates/a.yaml": ""},
			"Chart.yaml: 101 dependencies are more than 100"},
		{"charts of a kustomization", map[string]string{"kustomization.yaml": "helmCharts:\n" + repeat(51, "- {name: c#, releaseName: c#}\n")}, "helmCharts: 51 charts are more than 50"},
		{"a lock of 1 MiB", map[string]string{"Chart.yaml": chart + "dependencies: [{name: d, version: 1.0.0, repository: 'oci://registry.example.com/charts'}]\n", "Chart.lock": "digest: " + strings.Repeat("a", 1<<20+1)}, "Chart.lock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := planOf(t, offline(t, config.Config{}), files(t, c.files), "web")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// objectText returns a planned object of a name as JSON.
func objectText(t *testing.T, plan *preview.Plan, name string) string {
	t.Helper()
	for _, o := range plan.Objects {
		if o.Name == name && o.Kind != "Namespace" {
			text, err := json.Marshal(o.Planned)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	t.Fatalf("the plan has no object %s", name)
	return ""
}
