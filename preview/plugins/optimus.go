package plugins

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// optimusLocation is where Optimus installs plugins to: in the working
// directory of its server (plugin/plugin_manager.go).
const optimusLocation = ".plugins"

// provider is a named place that plugins come from.
type provider struct {
	kind, name string
	base       string // URL, bucket, repository or folder
	gitRef     string
	directory  string
	region     string
	endpoint   string
	auth       Auth
}

// optimus reads the form of the RFC: the keys at the top, or below plugins.
func (p *parser) optimus() {
	top := field{r: p.reading, value: p.root}
	if _, nested := p.root["plugins"].(map[string]any); nested {
		top = p.at("plugins")
	}
	p.set.Form, p.set.Name = FormOptimus, "optimus"
	if p.set.Location = top.at("install_location").text(); p.set.Location == "" {
		p.set.Location = optimusLocation
	}
	providers := map[string]provider{}
	for _, item := range top.at("providers").items(true) {
		found := p.provider(item)
		if _, twice := providers[found.name]; twice {
			item.at("name").fail("two providers are called %s", clip(found.name))
		}
		providers[found.name] = found
	}
	for _, item := range top.at("plugins").items(true) {
		name := item.at("provider").need()
		from, ok := providers[name]
		if !ok {
			item.at("provider").fail("no provider is called %s", clip(name))
			continue
		}
		plugin := Plugin{Output: item.at("output").need(), Config: item.at("config").mapping()}
		plugin.Name = plugin.Output
		artifact := p.from(from, item.at("path"), p.sha256(item.at("sha256")))
		plugin.Artifacts = []Artifact{artifact}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

// provider reads one provider. The RFC has url and gcs; the fields of the other
// kinds are ours.
func (p *parser) provider(item field) provider {
	out := provider{kind: item.at("type").need(), name: item.at("name").need()}
	switch out.kind {
	case "url":
		out.base = item.at("url").need()
		out.auth = p.login(item.at("auth"), out.name)
	case "gcs":
		out.base, out.endpoint = item.at("bucket").need(), item.at("endpoint").text()
		out.auth.Google = p.googleKey(item.at("service_account"), out.name)
	case "s3":
		out.base, out.endpoint, out.region = item.at("bucket").need(), item.at("endpoint").text(), item.at("region").text()
		if id := item.at("access_key_id"); id.set() {
			out.auth.AccessKeyID = id.need()
			out.auth.SecretKey = p.secret(item.at("secret_access_key"), out.name)
			if !out.auth.SecretKey.Set() {
				item.at("secret_access_key").fail("it is missing: access_key_id is there")
			}
		}
	case "git":
		out.base, out.gitRef, out.directory = item.at("url").need(), item.at("ref").text(), item.at("directory").text()
		out.auth = p.login(item.at("auth"), out.name)
	case "oci":
		out.base = item.at("url").need()
		out.auth = p.login(item.at("auth"), out.name)
	case "file", "local":
		out.base = item.at("path").text()
	default:
		if out.kind != "" {
			item.at("type").fail("%s is not a kind of provider; known are url, gcs, s3, git, oci and file", clip(out.kind))
		}
	}
	return out
}

// from puts together where one plugin of a provider comes from.
func (p *parser) from(from provider, where field, sum string) Artifact {
	at := where.need()
	a := Artifact{SHA256: sum, Auth: from.auth}
	if at == "" || from.base == "" && from.kind != "file" && from.kind != "local" {
		return a
	}
	text := ""
	switch from.kind {
	case "url":
		text = strings.TrimRight(from.base, "/") + "/" + strings.TrimLeft(at, "/")
	case "gcs":
		text = "gs://" + from.base + "/" + strings.TrimLeft(at, "/") + query("endpoint", from.endpoint)
	case "s3":
		text = "s3://" + from.base + "/" + strings.TrimLeft(at, "/") + query("endpoint", from.endpoint, "region", from.region)
	case "git":
		text, a.Pick = gitText(from.base, from.directory, from.gitRef), strings.Trim(at, "/")
	case "oci":
		text = "oci://" + strings.TrimRight(strings.TrimPrefix(from.base, "oci://"), "/") + "/" + strings.TrimLeft(at, "/")
	case "file", "local":
		return p.local(a, where, filepath.Join(from.base, at))
	}
	return p.reference(a, where, text)
}

func gitText(base, directory, gitRef string) string {
	text := strings.TrimRight(base, "/")
	if !strings.HasPrefix(text, "git+") {
		text = "git+" + text
	}
	if directory = strings.Trim(directory, "/"); directory != "" {
		text += "//" + directory
	}
	return text + query("ref", gitRef)
}

func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// local is a path of this machine; a relative one is below the config's folder.
// Its text stays as written, the same on every machine.
func (p *parser) local(a Artifact, field field, where string) Artifact {
	if p.o.Fetched {
		field.fail("a config that was fetched names the file %s of its own machine; let it name an address", clip(where))
		return a
	}
	a.Local, a.Reference = true, ref.Reference{Kind: ref.KindArchive, Text: where, Path: where}
	if !filepath.IsAbs(where) {
		a.Reference.Path = filepath.Join(p.o.Dir, where)
	}
	return a
}

// reference reads the text of one. The sha256 of a config is that of what is
// downloaded, so it becomes part of the reference where that can carry it.
func (p *parser) reference(a Artifact, where field, text string) Artifact {
	remote := strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
	if strings.HasPrefix(text, "http://") {
		switch {
		case !p.o.PlainHTTP:
			where.fail("plain http can be changed on its way; use https, or allow it with --plain-http and a sha256")
			return a
		case a.SHA256 == "" && !strings.Contains(text, "#sha256="):
			where.fail("plain http needs a sha256, which says what must come")
			return a
		}
	}
	if before, sum, ok := strings.Cut(text, "#sha256="); ok && remote {
		if sum = "sha256:" + sum; a.SHA256 != "" && a.SHA256 != sum {
			where.fail("its sha256 and that of its address differ")
			return a
		}
		text, a.SHA256 = before, sum
	}
	if remote && a.SHA256 != "" {
		text += "#sha256=" + strings.TrimPrefix(a.SHA256, "sha256:")
	}
	r, err := ref.Parse(text)
	switch {
	case err != nil:
		where.fail("%s", err)
	case r.Kind == ref.KindPackage || r.Kind == ref.KindChart || r.Kind == ref.KindConfigMap:
		where.fail("a %s holds no plugin", r.Kind)
	case r.Path != "" && r.Kind != ref.KindLayout:
		return p.local(a, where, r.Path)
	}
	a.Reference = r
	return a
}

// sha256 reads 64 hexadecimal digits, with sha256: before them or without.
func (p *parser) sha256(f field) string {
	text := f.text()
	if text == "" {
		return ""
	}
	if digest := "sha256:" + strings.TrimPrefix(text, "sha256:"); ref.IsDigest(digest) {
		return digest
	}
	f.fail("it is not 64 lower-case hexadecimal digits")
	return ""
}

// secret reads a credential: {env: NAME}, {file: PATH}, or itself, which is
// noted.
func (p *parser) secret(f field, provider string) Secret {
	switch v := f.value.(type) {
	case nil:
		return Secret{}
	case string:
		f.r.known[f.path] = true
		if v == "" {
			return Secret{}
		}
		p.note(RuleInlineCredential, "provider/"+provider, "the config holds a credential in "+f.path+
			"; write {env: NAME} or {file: PATH} there instead, and replace the credential: whoever read the file has it")
		return Secret{inline: v}
	}
	if !f.isMap() {
		return Secret{}
	}
	out := Secret{Env: f.at("env").text(), File: f.at("file").text()}
	if (out.Env == "") == (out.File == "") {
		f.fail("a credential is {env: NAME} or {file: PATH}")
	}
	switch {
	case p.o.Fetched && out.File != "":
		f.fail("a config that was fetched may not send a file of this machine, %s, to its provider", clip(out.File))
		return Secret{}
	case p.o.Fetched && out.Env != "" && !slices.Contains(p.o.Env, out.Env):
		f.fail("a config that was fetched may not send the environment variable %s to its provider unless --credential-env names it", clip(out.Env))
		return Secret{}
	}
	if out.File != "" && !filepath.IsAbs(out.File) {
		out.File = filepath.Join(p.o.Dir, out.File)
	}
	return out
}

// login reads how a server is asked: {bearer: SECRET}, {basic: {username,
// password: SECRET}}; text is a token, or USER:PASSWORD.
func (p *parser) login(f field, provider string) Auth {
	if text, ok := f.value.(string); ok {
		token := p.secret(f, provider)
		if user, password, basic := strings.Cut(text, ":"); basic {
			return Auth{Username: user, Password: Secret{inline: password}}
		}
		return Auth{Bearer: token}
	}
	if !f.isMap() {
		return Auth{}
	}
	out := Auth{Bearer: p.secret(f.at("bearer"), provider)}
	if basic := f.at("basic"); basic.isMap() {
		out.Username, out.Password = basic.at("username").need(), p.secret(basic.at("password"), provider)
	}
	if out.Bearer.Set() == (out.Username != "") {
		f.fail("a login is {bearer: …} or {basic: {username: …, password: …}}")
	}
	return out
}

// googleKey reads the key of a service account: base64 of its JSON, or where
// that JSON is.
func (p *parser) googleKey(f field, provider string) Secret {
	out := p.secret(f, provider)
	if out.inline == "" {
		return out
	}
	key, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(out.inline), ""))
	if err != nil {
		f.fail("it is not base64")
		return Secret{}
	}
	if doc, err := preview.DecodeJSON(key); err != nil || kindOf(doc) != "a map" {
		f.fail("it is base64, but not of the JSON key of a service account")
		return Secret{}
	}
	out.inline = string(key)
	return out
}

func (p *parser) note(rule, object, text string) {
	p.set.Notes = append(p.set.Notes, preview.Note{Rule: rule, Object: object, Text: text})
}

// artifacts reads plugin.artifacts, as Optimus ships it: a list of what
// hashicorp/go-getter understands, unpacked side by side.
func (p *parser) artifacts() {
	p.set.Form, p.set.Name, p.set.Location = FormArtifacts, "optimus", optimusLocation
	// The rest of a server's config, and plugin.dir, which Optimus does not read.
	p.ignore("version", "log", "serve", "scheduler", "telemetry", "resource_manager", "publisher", "replay", "plugin.dir")
	for _, item := range p.at("plugin.artifacts").items(false) {
		text := item.need()
		if text == "" {
			continue
		}
		artifact, ok := p.getter(item, text)
		if !ok {
			continue
		}
		plugin := Plugin{Name: getterName(text), Artifacts: []Artifact{artifact}}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}
