package plugins

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// optimusLocation is the directory that Optimus installs plugins to: in the
// working directory of its server (plugin/plugin_manager.go).
const optimusLocation = ".plugins"

// provider is a named entry under providers of an Optimus config: a place to fetch
// plugins from.
type provider struct {
	kind, name string
	base       string // URL, bucket, repository or folder
	gitRef     string
	directory  string
	region     string
	endpoint   string
	auth       Auth
}

// optimus reads a config in the form of the Optimus RFC, whose keys (providers,
// plugins, install_location) are at the top level or below the key plugins.
func (p *parser) optimus() {
	top := p.Root()
	if _, nested := p.At("plugins").Value.(map[string]any); nested {
		top = p.At("plugins")
	}
	p.set.Form, p.set.Name = FormOptimus, "optimus"
	if p.set.Location = top.At("install_location").Text(); p.set.Location == "" {
		p.set.Location = optimusLocation
	}
	providers := map[string]provider{}
	for _, item := range top.At("providers").Maps() {
		found := p.provider(item)
		if _, twice := providers[found.name]; twice {
			item.At("name").Fail("two providers are called %s", clip(found.name))
		}
		providers[found.name] = found
	}
	for _, item := range top.At("plugins").Maps() {
		name := item.At("provider").Need()
		from, ok := providers[name]
		if !ok {
			item.At("provider").Fail("no provider is called %s", clip(name))
			continue
		}
		plugin := Plugin{Output: item.At("output").Need(), Config: item.At("config").Mapping()}
		plugin.Name = plugin.Output
		artifact := p.from(from, item.At("path"), p.sha256(item.At("sha256")))
		plugin.Artifacts = []Artifact{artifact}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

// provider reads one provider. The types url and gcs come from the RFC; s3, git, oci and
// file, with their fields, are additions of this program.
func (p *parser) provider(item field) provider {
	out := provider{kind: item.At("type").Need(), name: item.At("name").Need()}
	switch out.kind {
	case "url":
		out.base = item.At("url").Need()
		out.auth = p.login(item.At("auth"), out.name)
	case "gcs":
		out.base, out.endpoint = item.At("bucket").Need(), item.At("endpoint").Text()
		out.auth.Google = p.googleKey(item.At("service_account"), out.name)
	case "s3":
		out.base, out.endpoint, out.region = item.At("bucket").Need(), item.At("endpoint").Text(), item.At("region").Text()
		if id := item.At("access_key_id"); id.Set() {
			out.auth.AccessKeyID = id.Need()
			out.auth.SecretKey = p.secret(item.At("secret_access_key"), out.name)
			if !out.auth.SecretKey.Set() {
				item.At("secret_access_key").Fail("it is missing: access_key_id is there")
			}
		}
	case "git":
		out.base, out.gitRef, out.directory = item.At("url").Need(), item.At("ref").Text(), item.At("directory").Text()
		out.auth = p.login(item.At("auth"), out.name)
	case "oci":
		out.base = item.At("url").Need()
		out.auth = p.login(item.At("auth"), out.name)
	case "file", "local":
		out.base = item.At("path").Text()
	default:
		if out.kind != "" {
			item.At("type").Fail("%s is not a kind of provider; known are url, gcs, s3, git, oci and file", clip(out.kind))
		}
	}
	return out
}

// from returns the artifact at a path of a provider, with the sha256 that the config
// gives for it.
func (p *parser) from(from provider, where field, sum string) Artifact {
	at := where.Need()
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

// local returns the artifact at a path of this machine; a relative path starts at the
// config's directory. The reference's text stays as written, so that a plan is the same
// on every machine. In a config that was fetched, a local path is an error.
func (p *parser) local(a Artifact, field field, where string) Artifact {
	if p.o.Fetched {
		field.Fail("a fetched config names the local file %s; use an address", clip(where))
		return a
	}
	a.Local, a.Reference = true, ref.Reference{Kind: ref.KindArchive, Text: where, Path: where}
	if !filepath.IsAbs(where) {
		a.Reference.Path = filepath.Join(p.o.Dir, where)
	}
	return a
}

// reference sets an artifact's reference, parsed from text. A sha256 in the config is
// the downloaded file's, and becomes part of the reference if it is an http or https
// address.
func (p *parser) reference(a Artifact, where field, text string) Artifact {
	remote := strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
	if strings.HasPrefix(text, "http://") {
		switch {
		case !p.o.PlainHTTP:
			where.Fail("plain http can be changed on its way; use https, or allow it with --plain-http and a sha256")
			return a
		case a.SHA256 == "" && !strings.Contains(text, "#sha256="):
			where.Fail("plain http needs a sha256, which says what must come")
			return a
		}
	}
	if before, sum, ok := strings.Cut(text, "#sha256="); ok && remote {
		if sum = "sha256:" + sum; a.SHA256 != "" && a.SHA256 != sum {
			where.Fail("its sha256 differs from the digest in its address")
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
		where.Fail("%s", err)
	case r.Kind.Content() != ref.ContentAny:
		where.Fail("a %s holds no plugin", r.Kind)
	case r.Path != "" && r.Kind != ref.KindLayout:
		return p.local(a, where, r.Path)
	}
	a.Reference = r
	return a
}

// sha256 reads a digest, with or without the prefix sha256:, which it adds. Empty stays
// empty; other text is an error.
func (p *parser) sha256(f field) string {
	text := f.Text()
	if text == "" {
		return ""
	}
	if digest := "sha256:" + strings.TrimPrefix(text, "sha256:"); ref.IsDigest(digest) {
		return digest
	}
	f.Fail("it is not 64 lower-case hexadecimal digits")
	return ""
}

// secret reads a credential: {env: NAME}, {file: PATH}, or the value itself, and adds a
// note then. A fetched config may name no file, and only the variables that the options
// allow.
func (p *parser) secret(f field, provider string) Secret {
	switch v := f.Value.(type) {
	case nil:
		return Secret{}
	case string:
		f.Know()
		if v == "" {
			return Secret{}
		}
		p.note(rules.PluginInlineCredential, "provider/"+provider, rules.PluginInlineCredential.NoteText(f.Path))
		return Secret{inline: v}
	}
	if !f.IsMap() {
		return Secret{}
	}
	out := Secret{Env: f.At("env").Text(), File: f.At("file").Text()}
	if (out.Env == "") == (out.File == "") {
		f.Fail("a credential is {env: NAME} or {file: PATH}")
	}
	switch {
	case p.o.Fetched && out.File != "":
		f.Fail("a config that was fetched may not send a file of this machine, %s, to its provider", clip(out.File))
		return Secret{}
	case p.o.Fetched && out.Env != "" && !slices.Contains(p.o.Env, out.Env):
		f.Fail("a config that was fetched may not send the environment variable %s to its provider unless --credential-env names it", clip(out.Env))
		return Secret{}
	}
	if out.File != "" && !filepath.IsAbs(out.File) {
		out.File, out.beside = filepath.Join(p.o.Dir, out.File), true
	}
	return out
}

// login reads the credentials for a server: {bearer: SECRET}, {basic: {username,
// password: SECRET}}, or a text that is a token or USER:PASSWORD.
func (p *parser) login(f field, provider string) Auth {
	if text, ok := f.Value.(string); ok {
		token := p.secret(f, provider)
		if user, password, basic := strings.Cut(text, ":"); basic {
			return Auth{Username: user, Password: Secret{inline: password}}
		}
		return Auth{Bearer: token}
	}
	if !f.IsMap() {
		return Auth{}
	}
	out := Auth{Bearer: p.secret(f.At("bearer"), provider)}
	if basic := f.At("basic"); basic.IsMap() {
		out.Username, out.Password = basic.At("username").Need(), p.secret(basic.At("password"), provider)
	}
	if out.Bearer.Set() == (out.Username != "") {
		f.Fail("a login is {bearer: …} or {basic: {username: …, password: …}}")
	}
	return out
}

// googleKey reads the key of a Google service account: base64 of its JSON, or {env:
// NAME} or {file: PATH} with the JSON itself.
func (p *parser) googleKey(f field, provider string) Secret {
	out := p.secret(f, provider)
	if out.inline == "" {
		return out
	}
	key, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(out.inline), ""))
	if err != nil {
		f.Fail("it is not base64")
		return Secret{}
	}
	if doc, err := preview.DecodeJSON(key); err != nil || fields.Kind(doc) != "a map" {
		f.Fail("it is base64, but not of the JSON key of a service account")
		return Secret{}
	}
	out.inline = string(key)
	return out
}

func (p *parser) note(rule rules.Rule, object, text string) {
	p.set.Notes = append(p.set.Notes, rule.Note(object, text))
}

// artifacts reads plugin.artifacts, the form that released versions of Optimus read: a
// list of go-getter sources (hashicorp/go-getter), unpacked into the same directory.
func (p *parser) artifacts() {
	p.set.Form, p.set.Name, p.set.Location = FormArtifacts, "optimus", optimusLocation
	// The rest of a server's config, and plugin.dir, which Optimus does not read.
	p.Know("version", "log", "serve", "scheduler", "telemetry", "resource_manager", "resource_managers", "publisher", "replay", "plugin.dir")
	for _, item := range p.At("plugin.artifacts").Items() {
		text := item.Need()
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
