package olmcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// The two generations of OLM, as flags name them.
const (
	V0 = "olmv0"
	V1 = "olmv1"
)

// Reader is a cluster as far as this package reads it.
type Reader interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
	List(ctx context.Context, apiVersion, kind, namespace, labelSelector string, fields ...string) ([]map[string]any, error)
	DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult
}

// Writer is a cluster as far as this package writes to it.
type Writer interface {
	Reader
	Apply(ctx context.Context, item preview.DryRun) (map[string]any, error)
	Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (map[string]any, error)
	Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (gone bool, err error)
}

// Session is one run of a command: the cluster, and where it asks.
type Session struct {
	// Reader and Writer contact the cluster; a Reader's client cannot write.
	Reader func(context.Context) (Reader, error)
	Writer func(context.Context) (Writer, error)
	// Namespace is the one that was chosen, empty for none.
	Namespace string
	In        io.Reader
	Out       io.Writer // for people; makes text harmless
	// CanAsk is an error where nothing can be asked.
	CanAsk func() error
}

// Consent is how the commands that write a single object are allowed to.
type Consent struct {
	Yes     bool // --yes
	Preview bool // --preview
	// Silent: the object is printed by the caller, as JSON or YAML.
	Silent bool
}

// Add adds the flags.
func (c *Consent) Add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.Yes, "yes", false, "with --in-cluster: write without asking")
	flags.BoolVar(&c.Preview, "preview", false, "with --in-cluster: only show the object")
}

// check returns an error for a run that would have to ask and cannot.
func (c Consent) check(s Session) error {
	switch {
	case c.Yes && c.Preview:
		return planning.Usagef("--preview writes nothing; leave out --yes")
	case c.Yes || c.Preview:
		return nil
	case c.Silent:
		return planning.Usagef("-o json and -o yaml never ask; add --yes, or --preview")
	}
	return s.CanAsk()
}

// ErrDeclined is the error of a question that was answered with no.
var ErrDeclined = errors.New("nothing was written")

// allowed shows an object and returns whether it may be written: with --yes, or when the
// answer is yes. Nothing else than yes is one.
func (c Consent) allowed(ctx context.Context, s Session, title string, object any, question string) (bool, error) {
	if !c.Silent {
		text, err := yaml.Marshal(object)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(s.Out, "%s\n\n%s\n", title, indented(string(text)))
	}
	if c.Preview || c.Yes {
		return c.Yes, nil
	}
	line, _, err := frame.NewPrompter(s.In, s.Out).Ask(ctx, question+" Type yes: ")
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(line) != "yes" {
		return false, ErrDeclined
	}
	return true, nil
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&out, "  %s\n", textsafe.Line(strings.TrimRight(line, "\n")))
	}
	return out.String()
}

// notServed returns a refusal where the cluster has no OLM of that generation, else the
// error of reading an object.
func notServed(err error, at preview.Ref, generation string) error {
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		return planning.Refuse(fmt.Sprintf("the cluster has no %s: it does not serve %s of %s", generation, at.Kind, at.APIVersion),
			"install OLM first, choose the cluster with --context, or do without OLM: kubectl operator help olm")
	}
	return fmt.Errorf("reading %s: %w", at.ID(), err)
}
