// Package plugins reads plugin sets: files that a host program loads, listed in
// a config. It reads the forms that hosts have (Optimus, PipeCD, krew) and one
// of our own, pins every artifact, looks into what it brought, and lists the
// files that an install would write.
//
// Reading a config touches neither disk nor network: [Fetch] fetches its artifacts
// through package source.
package plugins

import (
	"encoding/json"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Form is the kind of document that a plugin config is, by the host it is written for.
type Form string

// The forms.
const (
	FormOptimus   Form = "optimus"   // install_location, providers, plugins (the RFC)
	FormArtifacts Form = "artifacts" // plugin.artifacts, as Optimus ships it
	FormPiped     Form = "piped"     // Piped of pipecd.dev/v1beta1
	FormKrew      Form = "krew"      // Plugin of krew.googlecontainertools.github.com/v1alpha2
	FormSet       Form = "set"       // PluginSet of kubectl-operator/v1alpha1
)

// Set is a plugin set as its config describes it.
type Set struct {
	Form    Form
	Name    string // the config's own, else its host's
	Version string // may be empty
	// Location is the host's directory for plugins, as written: a relative
	// path is below the working directory, "~/" below the user's home.
	Location string
	Plugins  []Plugin
	Config   map[string]any // of the whole set; may be nil
	Host     *Host          // that loads it in a cluster; nil for one on a machine
	Executor *Executor      // of the jobs that run its plugins; nil where the config says nothing of it
	// Notes lists observations on the config itself for a reviewer.
	Notes []preview.Note

	body map[string]any // the document of a PluginSet
}

// Plugin is one plugin in a config.
type Plugin struct {
	Name string // in messages; unique in its set
	// Output is the path below the location of what it brings: a file where the
	// artifact holds one, else a directory. Empty is the location itself.
	Output    string
	Artifacts []Artifact // at least one; the first that fits a platform is taken
	Config    map[string]any
	// Program says that the host runs the one file that it brings, whatever mode
	// that has at its source.
	Program bool
	// Command is the name that Artifact.Bin is installed as; empty for none.
	Command string

	receipt []byte // for krew, its own file; nil for other hosts
}

// Artifact is what a plugin is fetched from, for all platforms or those that it
// selects.
type Artifact struct {
	// Selector is about the labels os and arch; an empty one fits every platform.
	Selector  ref.Selector
	Reference ref.Reference
	// Local says that Reference.Path is a path of this machine; only a look at it shows
	// whether it is a file or a directory.
	Local bool
	// SHA256 is sha256:HEX that the artifact must have; empty when the config
	// says nothing.
	SHA256 string
	// Pick is the file or directory of the artifact that is meant; empty is all.
	Pick  string
	Files []Placement // what is taken of it; empty is all
	Bin   string      // the program among the installed files; may be empty
	Auth  Auth
	// Signature is the path or address of a Sigstore bundle of the artifact;
	// nil for none.
	Signature *ref.Reference
	// invalid is what is wrong with it, for the platforms that it selects; nil for
	// one that can be fetched.
	invalid error
}

// Placement moves files of an artifact: those that match From, a glob, go to the
// directory To.
type Placement struct{ From, To string }

// Auth has the credentials that a config gives for a provider. The zero value means the
// credentials of the user's environment.
type Auth struct {
	Username    string
	Password    Secret
	Bearer      Secret
	Google      Secret // key of a service account, JSON
	AccessKeyID string
	SecretKey   Secret
}

// Given reports whether the config gives credentials.
func (a Auth) Given() bool { return a != Auth{} }

// Secret is a credential: a reference to an environment variable or file, or the value
// itself, which is never printed.
type Secret struct {
	Env, File string // where it is
	inline    string
	beside    bool // whether the config names File by a path that starts at its own directory
}

// Set reports whether the credential is set.
func (s Secret) Set() bool { return s != Secret{} }

// String implements [fmt.Stringer].
func (s Secret) String() string {
	switch {
	case s.Env != "":
		return "env " + s.Env
	case s.File != "":
		return "file " + s.File
	case s.inline != "":
		return preview.Masked
	}
	return ""
}

// GoString implements [fmt.GoStringer].
func (s Secret) GoString() string { return s.String() }

// MarshalJSON implements [json.Marshaler].
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Artifact returns the first artifact of a plugin that fits a platform, nil if none
// does.
func (p *Plugin) Artifact(platform string) *Artifact {
	for i := range p.Artifacts {
		if fits(p.Artifacts[i].Selector, platform) {
			return &p.Artifacts[i]
		}
	}
	return nil
}
