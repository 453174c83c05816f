package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// passphraseVariable is the environment variable with the passphrase of a key,
// the one that cosign uses.
const passphraseVariable = "COSIGN_PASSWORD"

// approver is the run of the command approve.
type approver struct {
	app     *app
	session *session
	saved   savedFlags
	key     string
	accept  []string
	expires time.Duration
	yes     bool
}

func (a *app) newApproveCommand() *cobra.Command {
	c := &approver{app: a, session: a.newSession()}
	cmd := &cobra.Command{
		Use:   "approve PLANFILE",
		Short: "Sign an approval of a saved plan",
		Long: `Show a saved plan in short, ask, and sign an approval of it: of its digest, its
cluster, its file and the findings that are accepted. No cluster is contacted. The
approval is written beside the plan, as PLANFILE.approval-N.json, or for a plan in a
registry pushed as an artifact that refers to it. install --require-approvals counts
them. A plan that was made --offline is approved for its content. One that cannot be
applied whatever is approved is refused.

The key is a private key in PEM: ECDSA or Ed25519, as openssl or cosign make them.
The passphrase of a key of cosign is taken from ` + passphraseVariable + `, else asked for.`,
		Example: `  # Review and sign
  kubectl operator approve plan.tgz --key cosign.key

  # In a script, with every critical finding named; the approval holds for a day
  kubectl operator approve oci://registry.example.com/plans/mongodb@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae --key key.pem --yes --accept rbac-secrets-read/core/ServiceAccount/mongodb/operator --expires 24h`,
		Args: rangeArgs(1, 1, "a PLANFILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.key, "key", "", "file of the private key to sign with (required)")
	flags.StringArrayVar(&c.accept, "accept", nil, "accept one finding, as ID or ID=FINGERPRINT (repeatable); on a terminal what the plan needs is accepted with it")
	flags.DurationVar(&c.expires, "expires", 0, "how long the approval holds, such as 24h (default: as long as the plan)")
	flags.BoolVar(&c.yes, "yes", false, "sign without asking; every critical and unknown finding must be named by --accept")
	c.saved.add(flags)
	addRegistryFlags(flags, &c.session.Source)
	return cmd
}

func (c *approver) run(ctx context.Context, place string) error {
	switch {
	case c.key == "":
		return usagef("--key FILE names the signing key; add it")
	case c.expires < 0 || c.expires > 0 && c.expires < time.Second:
		return usagef("--expires %s: want a second or more, such as 24h", c.expires)
	case !c.yes && !c.app.streams.CanPrompt():
		return errors.New("not a terminal: review with \"show PLANFILE\", then \"approve PLANFILE --key FILE --yes\"")
	}
	plan, err := c.session.loadPlan(ctx, place, c.saved)
	if err != nil {
		return err
	}
	if why := plan.Expired(time.Now()); why != "" {
		return refuse(why, "preview again; if the clock is wrong, set it")
	}
	if obstacles := verdict.For(plan.Plan).Obstacles; len(obstacles) > 0 {
		first := obstacles[0]
		return refuse(fmt.Sprintf("no approval lets this plan be applied: %s %s (%s in all)", preview.IDLabel(first.Object), first.Cause, preview.Plural(len(obstacles), "obstacle")),
			"see CANNOT BE APPLIED of show "+plan.Place+", and preview again once that is settled")
	}
	statement, err := c.statement(plan)
	if err != nil {
		return err
	}
	key, err := c.readKey(ctx)
	if err != nil {
		return err
	}
	if !c.yes {
		if err := c.ask(ctx, plan.Plan, key.ID); err != nil {
			return err
		}
	}
	signed, err := approval.Sign(statement, key, time.Now(), c.expires)
	if err != nil {
		return err
	}
	where, err := c.session.Saved().KeepApproval(ctx, plan, signed)
	if err != nil {
		return err
	}
	c.app.streams.Errorf("approved by key %s\n", key.ID)
	c.app.streams.Printf("%s\n", where)
	return nil
}

// statement returns the approval statement to be signed. It lists every
// critical or unknown finding that the plan needs accepted: those that --accept
// names and, if the user is asked, all others, which are accepted with the
// plan. With --yes, a finding that is not named is an error.
func (c *approver) statement(plan *planning.SavedPlan) (approval.Statement, error) {
	s := approval.NewStatement(plan.Plan, plan.FileSHA256)
	named, err := install.ParseAccept(c.accept, plan.Findings, true)
	if err != nil {
		return s, err
	}
	ids := map[string]bool{}
	add := func(f preview.Finding) {
		if !ids[f.ID] {
			ids[f.ID] = true
			s.Accepted = append(s.Accepted, approval.AcceptedFinding{ID: f.ID, Fingerprint: f.Fingerprint})
		}
	}
	for _, a := range named {
		for _, f := range plan.Findings {
			if f.ID != a.ID {
				continue
			}
			if a.Fingerprint != "" && !f.HasFingerprint(a.Fingerprint) {
				return s, refuse(fmt.Sprintf("--accept %s: the plan has the finding with fingerprint %s", a.ID, f.Fingerprint), "look at it again: show "+plan.Place)
			}
			add(f)
		}
	}
	var missing []string
	for _, f := range approval.NeededAcceptances(plan.Plan) {
		if c.yes && !ids[f.ID] {
			missing = append(missing, f.ID)
		}
		add(f)
	}
	if len(missing) > 0 {
		return s, refuse("not accepted: "+strings.Join(missing, ", "), "look at them, then name each: --accept ID")
	}
	return s, nil
}

func (c *approver) readKey(ctx context.Context) (*approval.Key, error) {
	data, err := planning.ReadSmallFile(c.key)
	if err != nil {
		return nil, fmt.Errorf("reading --key: %w", err)
	}
	key, err := approval.ReadKey(data, func() ([]byte, error) { return c.app.passphrase(ctx, c.key) })
	if err != nil {
		return nil, fmt.Errorf("reading --key %s: %w", c.key, err)
	}
	return key, nil
}

// passphrase returns the passphrase of a key file, from the environment or by
// asking for it.
func (a *app) passphrase(ctx context.Context, file string) ([]byte, error) {
	if phrase := a.getenv(passphraseVariable); phrase != "" {
		return []byte(phrase), nil
	}
	if !a.streams.CanPrompt() {
		return nil, fmt.Errorf("it needs a passphrase; set it in %s where there is no terminal to ask for it", passphraseVariable)
	}
	return a.askHidden(ctx, "Passphrase of "+file+": ")
}

// ask shows the plan and asks for the name of the release. Any other answer,
// and the end of the input, counts as no: the error has the exit code for that.
func (c *approver) ask(ctx context.Context, plan *preview.Plan, key string) error {
	s := c.app.streams
	err := report.Write(s.Human(), plan, report.Options{Format: report.Text, Color: s.Color(), ASCII: s.ASCII(), Width: s.Width(), Brief: true})
	if err != nil {
		return err
	}
	// The sentence stands at the top already, which has scrolled away.
	line, ok, err := frame.NewPrompter(s.In, s.Human()).Ask(ctx, fmt.Sprintf(
		"\n%s\nEverything: show %s\nSigning with key %s\nType the release name to approve exactly this plan: ", strings.Join(textsafe.Wrap(textsafe.Line(verdict.For(plan).Sentence), s.Width()), "\n"), plan.SavedAs, key))
	if err != nil {
		return err
	}
	if !ok || line != plan.Release.Name {
		s.Printf("Nothing was approved.\n")
		return &silentExit{exitDeclined}
	}
	return nil
}
