package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// outFlags say where a plan is saved, and who may read and apply it until when.
type outFlags struct {
	planning.SaveOptions
	expires time.Duration
}

func (f *outFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.To, "out", "", "save the plan, for install --plan: to this file, or to a registry as oci://HOST/REPO[:TAG]")
	flags.BoolVar(&f.PlaintextSecrets, "plaintext-secrets", false, "let the saved plan hold secret values in the clear")
	flags.StringArrayVar(&f.Recipients, "plan-recipient", nil, "encrypt the saved plan for this key of age or ssh, age1... or ssh-ed25519 ..., or for those in a file (repeatable)")
	flags.DurationVar(&f.expires, "expires", 0, "how long the saved plan can be applied, such as 72h (default: for ever; once applied, until its record in the cluster is gone, or not at all from the machine that applied it)")
}

func (f *outFlags) check() error {
	switch {
	case f.To == "" && (f.PlaintextSecrets || len(f.Recipients) > 0 || f.expires != 0):
		return usagef("--plaintext-secrets, --plan-recipient and --expires are about the plan that --out saves; add --out")
	case f.PlaintextSecrets && len(f.Recipients) > 0:
		return usagef("--plan-recipient encrypts the plan; leave out --plaintext-secrets")
	case f.expires < 0 || f.expires > 0 && f.expires < time.Second:
		return usagef("--expires %s: want a second or more, such as 72h", f.expires)
	}
	if to, ok := strings.CutPrefix(f.To, planning.RegistryPrefix); ok {
		if err := source.CheckArtifactDestination(to); err != nil {
			return usagef("--out %s", err)
		}
	}
	return nil
}

// save saves a plan and notes in it where.
func (f *outFlags) save(ctx context.Context, p *session, plan *preview.Plan) error {
	err := p.Saved().Save(ctx, plan, f.SaveOptions)
	if err == nil && strings.HasPrefix(f.To, planning.RegistryPrefix) {
		p.app.streams.Errorf("plan saved as %s\n", plan.SavedAs)
	}
	return err
}

// identityVariable names the file of age keys for those who keep them where
// sops looks for them too.
const identityVariable = "SOPS_AGE_KEY_FILE"

// savedFlags say how a saved plan is opened.
type savedFlags struct {
	identity string
}

func (f *savedFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.identity, "plan-identity", "", "file of the age key, or of the private ssh key, that opens an encrypted plan (default: the file that "+identityVariable+" names)")
}

func (f *savedFlags) keys(getenv func(string) string) planfile.Keys {
	if f.identity != "" {
		return planfile.Keys{File: f.identity}
	}
	return planfile.Keys{File: getenv(identityVariable)}
}

// loadPlan reads and verifies a saved plan.
func (p *session) loadPlan(ctx context.Context, place string, flags savedFlags) (*planning.SavedPlan, error) {
	plan, err := interruptible(ctx, func() (*planning.SavedPlan, error) {
		return p.Saved().Load(ctx, place, flags.keys(p.app.getenv))
	})
	if err == nil && plan.Notice != "" {
		p.app.streams.Errorf("note: %s\n", plan.Notice)
	}
	return plan, err
}
