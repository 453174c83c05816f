package cli

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// session is one run of a command that plans or looks at releases: its planner,
// the flags that are more than options of that, and the client of its cluster.
type session struct {
	*planning.Planner
	app *app

	requests requestFlags
	judged   policyFlags
	owners   ownerFlags

	client  *k8s.Client // nil until something is asked of the cluster
	schemas *k8s.Schemas
}

func (a *app) newSession() *session {
	s := &session{app: a}
	s.Planner = planning.NewPlanner(planning.Environment{
		Version: a.version, Getenv: a.getenv, Config: a.config,
		Namespace: a.kube.Namespace, RequestTimeout: a.kube.RequestTimeout,
		Passphrase: a.passphrase, Schemas: s.typer, Connect: s.reader,
	})
	return s
}

// sourced is a session of a command that only looks into catalogs.
func (a *app) sourced(o planning.SourceOptions) *session {
	s := a.newSession()
	s.Source = o
	return s
}

// reader is how the planner reaches the cluster.
func (s *session) reader(ctx context.Context, mode preview.ReadMode) (planning.Cluster, error) {
	client, err := s.dial(ctx, mode)
	if err != nil {
		return nil, err
	}
	s.client = client
	return client, nil
}

// connect contacts the cluster once, with a client that cannot write.
func (s *session) connect(ctx context.Context) (*k8s.Client, error) {
	_, err := s.Planner.Connect(ctx)
	return s.client, err
}

// writer contacts the cluster to apply what was approved. Nothing else has a
// client that can write.
func (s *session) writer(ctx context.Context) (*k8s.Client, error) {
	return s.dial(ctx, "")
}

func (s *session) dial(ctx context.Context, readOnly preview.ReadMode) (*k8s.Client, error) {
	return k8s.Connect(ctx, k8s.Options{
		Flags: s.app.kube, UserAgent: "kubectl-operator/" + s.app.version, ReadOnly: readOnly,
		Writes: func() { writing(ctx) },
	})
}

func (s *session) typer() engine.Schemas {
	if s.schemas == nil {
		s.schemas = k8s.NewSchemas()
	}
	return s.schemas
}

// loadPolicy reads the policy before anything is contacted.
func (s *session) loadPolicy() error {
	return firstError(s.judged.check(), s.Planner.LoadPolicy())
}
