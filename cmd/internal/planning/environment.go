package planning

import (
	"context"
	"io"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

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

// targetCluster reads from the cluster a command is about. It connects when
// something is first asked for.
type targetCluster struct{ planner *Planner }

// Get implements [format.Cluster] and [source.Getter].
func (t targetCluster) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, ref)
}

// List implements [format.Cluster].
func (t targetCluster) List(ctx context.Context, apiVersion, kind, namespace string) ([]map[string]any, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.List(ctx, apiVersion, kind, namespace, "")
}

// Version implements [format.Cluster].
func (t targetCluster) Version(ctx context.Context) (string, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return "", err
	}
	target, err := client.Target(ctx)
	if target.Version != "" && preview.ReasonOf(err) == preview.ReasonForbidden {
		return target.Version, nil // only the cluster's identity may not be read
	}
	return target.Version, err
}

// APIVersions implements [format.Cluster].
func (t targetCluster) APIVersions(ctx context.Context) ([]string, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.APIVersions(ctx)
}
