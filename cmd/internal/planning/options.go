package planning

import (
	"context"
	"io"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Options choose how plans are made, whatever they are of.
type Options struct {
	Source     SourceOptions
	Signatures SignatureOptions
	Selection  Selection
	Content    ContentOptions
	Render     RenderOptions
	Read       ReadOptions
	Owners     OwnerOptions
	Requests   RequestOptions
	Policy     PolicyOptions
	Records    RecordOptions
	// Approved is the digest that apply is approved for; empty where none is named.
	Approved string
	// StageTimeout is how long each stage may take; 0 is each stage's own time.
	StageTimeout time.Duration
	// Expires is how long the plans can be applied; 0 is for ever.
	Expires time.Duration
}

// Selection chooses among a package's versions.
type Selection struct {
	Version, Channel string
	Catalogs         []string

	// What only request files can say.
	channels      []string
	bundle        string // the very one, by its name
	policy        catalog.Policy
	Selector      ref.Selector // of the cluster's catalogs
	CatalogSource string       // NAMESPACE/NAME in the cluster
}

// ReadOptions say how the cluster is read.
type ReadOptions struct {
	Offline bool
	Mode    string // a [preview.ReadMode]; empty is dry runs
}

// Check refuses a mode that does not exist, and one beside Offline.
func (o *ReadOptions) Check() error {
	switch preview.ReadMode(o.Mode) {
	case preview.ReadDryRun:
		return nil
	case preview.ReadGet:
		if o.Offline {
			return Usagef("--offline reads no cluster; leave out --read-only get")
		}
		return nil
	}
	return Usagef("--read-only %s: want dry-run or get", o.Mode)
}

// mode is how the cluster is read, by dry runs where nothing was said.
func (o *ReadOptions) mode() preview.ReadMode {
	if o.Mode == "" {
		return preview.ReadDryRun
	}
	return preview.ReadMode(o.Mode)
}

// OwnerOptions are the reviewed choices about what belongs to others, and about
// kinds that the cluster does not have. They are part of the plan.
type OwnerOptions struct {
	Conflicts string // empty is the default
	Adopt     bool
	Strict    bool
	OnFailure string
}

// RollsBack reports whether a failed apply is to lead back.
func (o *OwnerOptions) RollsBack() bool { return o.OnFailure == preview.OnFailureRollback }

// options are the reviewed choices of a new plan.
func (o *OwnerOptions) options() preview.Options {
	options := preview.DefaultOptions()
	if o.Conflicts != "" {
		options.Conflicts = o.Conflicts
	}
	options.Adopt, options.Strict = o.Adopt, o.Strict
	return options
}

// Removal says what an uninstall deletes that it keeps otherwise.
type Removal struct {
	CRDs, Namespaces bool
}

// Environment is what planning takes from the program around it.
type Environment struct {
	Version string // of the program; plans carry it
	Getenv  func(string) string
	// Config reads the user's configuration.
	Config func() (config.Config, error)
	// Namespace is the one that was asked for, empty for none.
	Namespace func() string
	// RequestTimeout bounds one request to a server.
	RequestTimeout func() (time.Duration, error)
	// Passphrase asks for that of a key in a file.
	Passphrase func(ctx context.Context, file string) ([]byte, error)
	// Schemas know the built-in kinds.
	Schemas func() engine.Schemas
	// Connect contacts the cluster, through a client that cannot write.
	Connect func(context.Context, preview.ReadMode) (Cluster, error)
}

// Cluster is what planning reads of a cluster.
type Cluster interface {
	engine.Cluster
	objectReader
	catalogReader
	definitionReader
}

// objectReader reads single objects.
type objectReader interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

// catalogReader reads what a catalog server answers through the API server.
type catalogReader interface {
	// ServiceGet copies what a Service answers to a GET.
	ServiceGet(ctx context.Context, namespace, service, port, path string, w io.Writer) error
}

// definitionReader reads the CustomResourceDefinition of a kind.
type definitionReader interface {
	// Definition returns nil for a kind that no definition serves.
	Definition(ctx context.Context, apiVersion, kind string) (map[string]any, error)
}
