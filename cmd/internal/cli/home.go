package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/home"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// homePatience bounds each read of the screen of releases.
const homePatience = 10 * time.Second

// home shows the releases, and runs the command that is chosen there as if it were
// typed with the same flags.
func (a *app) home(ctx context.Context, flags *pflag.FlagSet) error {
	reader := homeReader{session: a.newSession()}
	choice, err := tui.Home(ctx, home.Options{Terminal: a.terminal(), Flags: flagWords(flags), Load: reader.load, Inspect: reader.inspect})
	if err != nil || choice.Command == nil {
		return err
	}
	words := slices.Concat(choice.Command, flagWords(flags))
	a.streams.Printf("$ %s\n", commandline.Join(append(strings.Fields(a.program), words...)...))
	root := a.newRootCommand()
	root.SetArgs(words)
	return root.ExecuteContext(ctx)
}

// flagWords returns the flags that were given, as words of a command line.
func flagWords(flags *pflag.FlagSet) []string {
	var words []string
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+f.Name+"="+value)
		}
	})
	return words
}

// homeReader reads what the screen of releases shows, one call after another.
type homeReader struct {
	session *session
	records []record.Record
}

// load reads the releases. Why it cannot is part of what it found.
func (h *homeReader) load(ctx context.Context) home.Listing {
	ctx, cancel := context.WithTimeout(ctx, homePatience)
	defer cancel()
	found := home.Listing{}
	if configured, err := h.session.app.config(); err == nil {
		found.Catalogs = len(configured.Catalogs)
	}
	h.session.waiting = func(string) {} // the screen says itself that it reads
	cluster, err := h.session.connect(ctx)
	if err != nil {
		found.Problem = err.Error()
		return found
	}
	target, err := cluster.Target(ctx)
	if err != nil {
		found.Problem = err.Error()
		return found
	}
	found.Cluster = target.Context
	if found.Cluster == "" {
		found.Cluster = target.Server
	}
	h.records, err = history.List(ctx, cluster, h.session.app.kube.Namespace())
	if err != nil {
		found.Problem = err.Error()
	}
	for i := range h.records {
		r := &h.records[i]
		found.Releases = append(found.Releases, home.Release{
			Name: r.Release.Name, Namespace: r.Release.Namespace, Version: r.Version(), About: aboutRelease(r),
		})
	}
	return found
}

// aboutRelease returns what the record of a release says of it.
func aboutRelease(r *record.Record) string {
	about := fmt.Sprintf("%s %s, revision %d, %s %s", r.Name(), r.Version(), r.Revision, r.State, r.Updated.Local().Format("2006-01-02 15:04"))
	if from := r.Catalog(); from != "" {
		about += ", from catalog " + from
	}
	return about
}

// inspect reads how one of the releases is.
func (h *homeReader) inspect(ctx context.Context, release home.Release) home.Condition {
	at := slices.IndexFunc(h.records, func(r record.Record) bool {
		return r.Release.Name == release.Name && r.Release.Namespace == release.Namespace
	})
	if at < 0 {
		return home.Condition{}
	}
	stored := &h.records[at]
	ctx, cancel := context.WithTimeout(ctx, homePatience)
	defer cancel()
	item, err := h.session.statusOf(ctx, stored)
	if err != nil {
		return home.Condition{Word: "not known", Role: theme.Caution, Why: err.Error()}
	}
	is := conditionOf(item)
	is.Update = h.session.KnownUpdate(ctx, stored)
	return is
}

// conditionOf words the state of a release in one line, the first cause with it.
func conditionOf(item statusItem) home.Condition {
	is := home.Condition{Word: "healthy", Role: theme.Good}
	switch {
	case len(item.Interrupted) > 0:
		return home.Condition{Word: "INTERRUPTED", Role: theme.Fail, Why: "written: " + countsOf(item.Interrupted)}
	case item.Unread != "":
		return home.Condition{Word: "not known", Role: theme.Caution, Why: item.Unread}
	case item.State == string(record.Failed):
		is = home.Condition{Word: "FAILED", Role: theme.Fail, Why: fmt.Sprintf("revision %d failed", item.Revision)}
	case !item.Healthy:
		is = home.Condition{Word: "DEGRADED", Role: theme.Fail}
	case item.Drifted:
		is = home.Condition{Word: "DRIFTED", Role: theme.Caution}
	default:
		return is
	}
	for _, o := range item.Objects {
		if wrong := o.why(); wrong != "" {
			is.Why = wrong
			break
		}
	}
	return is
}

// why words what is wrong with an object, empty when nothing is.
func (o statusObject) why() string {
	name := preview.IDLabel(o.ID)
	switch {
	case o.State != string(rollout.Ready) && o.Message != "":
		return name + ": " + o.Message
	case o.State != string(rollout.Ready):
		return name + " is " + o.State
	case install.Drift(o.Drift).Drifted() && len(o.Paths) > 0:
		return name + " differs: " + strings.Join(o.Paths, ", ")
	case install.Drift(o.Drift).Drifted():
		return name + " is " + o.Drift
	}
	return ""
}
