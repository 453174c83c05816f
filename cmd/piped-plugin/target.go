package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/resuming"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// session is one call of piped for one deploy target: its planner, and its client of the
// cluster.
type session struct {
	*planning.Planner
	version   string
	target    string
	flags     *k8s.Flags
	namespace string
	client    *k8s.Client // nil until something is asked of the cluster
	schemas   *k8s.Schemas
}

// newSession returns the session of a deploy target.
func (p *plugin) newSession(target *deployTarget) (*session, error) {
	s := &session{version: p.version, target: target.Name, flags: k8s.NewFlags(), namespace: target.Config.Namespace, schemas: k8s.NewSchemas()}
	flags := pflag.NewFlagSet("target", pflag.ContinueOnError)
	s.flags.AddFlags(flags)
	for name, value := range map[string]string{"kubeconfig": target.Config.Kubeconfig, "context": target.Config.Context} {
		if value == "" {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return nil, fmt.Errorf("deploy target %s: %s: %w", target.Name, name, err)
		}
	}
	s.Planner = planning.NewPlanner(planning.Environment{
		Version: p.version, Getenv: os.Getenv,
		Config:         func() (config.Config, error) { return config.Load(os.Getenv) },
		Namespace:      func() string { return s.namespace },
		RequestTimeout: s.flags.RequestTimeout,
		Passphrase: func(context.Context, string) ([]byte, error) {
			return nil, errors.New("a plugin cannot ask for the passphrase of a key; give one without")
		},
		Schemas: func() engine.Schemas { return s.schemas },
		Connect: s.reader,
	})
	return s, s.LoadPolicy()
}

// reader connects the planner to the cluster, with a client that cannot write.
func (s *session) reader(ctx context.Context, mode preview.ReadMode) (planning.Cluster, error) {
	client, err := s.dial(ctx, mode)
	if err != nil {
		return nil, fmt.Errorf("deploy target %s: %w", s.target, err)
	}
	s.client = client
	return client, nil
}

func (s *session) dial(ctx context.Context, readOnly preview.ReadMode) (*k8s.Client, error) {
	return k8s.Connect(ctx, k8s.Options{Flags: s.flags, UserAgent: "piped-plugin/" + s.version, ReadOnly: readOnly})
}

// connect returns a client that cannot write, which contacts the cluster once.
func (s *session) connect(ctx context.Context) (*k8s.Client, error) {
	_, err := s.Connect(ctx)
	return s.client, err
}

// planOf plans what the configuration of an application asks for.
func (s *session) planOf(ctx context.Context, from source, progress func(string)) (*preview.Plan, error) {
	request, err := s.ReadRequest(ctx, filepath.Join(from.ApplicationDirectory, from.ApplicationConfigFilename), "")
	if err != nil {
		return nil, err
	}
	if err := request.Paused(); err != nil {
		return nil, err
	}
	return s.Plan(ctx, request, progress)
}

// interrupted finds interrupted runs in the cluster.
func (s *session) interrupted() resuming.Finder {
	return resuming.Finder{Cluster: s.client, Schemas: s.schemas, Judge: s.Judge, DropLease: func(ctx context.Context, release preview.Release) {
		if cluster, err := s.dial(ctx, ""); err == nil {
			install.DropLease(ctx, cluster, release)
		}
	}}
}

// apply carries out an approved plan. When ctx ends, it ends after the request under way,
// and the same approval goes on with it.
func (s *session) apply(ctx context.Context, plan *preview.Plan, approved record.Approval, quorum *approval.Quorum, log *stageLog) error {
	if err := install.DeniedError(plan); err != nil {
		return err
	}
	cluster, err := s.dial(ctx, "")
	if err != nil {
		return err
	}
	if _, err := s.RecordKeys(ctx); err != nil {
		return err
	}
	host, _ := os.Hostname() // only a name in the lock
	_, err = install.Apply(context.WithoutCancel(ctx), plan, approved, cluster, install.Options{
		Schemas: s.schemas, Sink: log.event, Holder: fmt.Sprintf("%s/%d/%d", host, os.Getpid(), time.Now().UnixNano()),
		ToolVersion: s.version, Judge: s.JudgeAgain, Quorum: quorum, RecordKeys: s.SigningKeys(), Stop: ctx.Done(),
	})
	if stopped, is := errors.AsType[*install.Error](err); is && stopped.Kind == install.Interrupted {
		stopped.Advice = resumeAdvice // not with a command: piped asks
	}
	return err
}

// resumeAdvice says how an apply goes on that ended in the middle, under piped.
const resumeAdvice = "it goes on with it where piped runs the stage again; " + pipecd.StageRollback + " takes back what was applied"
