package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

const pluginPreviewLong = `Read a config of plugins, pin and fetch every artifact, and print which files it
would put where: with modes, what their bytes are, what is there now, and what is
risky. Nothing is installed or run.

A config is Optimus' (install_location, providers, plugins; or plugin.artifacts), a
Piped of PipeCD, a Plugin of krew or a PluginSet, as a file or in a ConfigMap.
The lock file, CONFIG.lock unless --lock says otherwise, holds the sha256 of every
artifact by platform. Where there is one, an artifact that is another is refused;
without it the review says which ones nothing pins. --update-lock writes it.

With --against another config, or a lock, stands in for what is installed: what a
pull request changes, wherever it is reviewed. --platform all reviews the set for
every platform at once. With --mode client the config is fetched from the server;
it may then name no file of this machine. Signatures are those of images, and
Sigstore bundles that a PluginSet names.`

const pluginPreviewExamples = `  # Which files an Optimus server would load, and what is wrong with them
  kubectl operator plugin preview -c plugin_config.yaml

  # Lock every artifact, then review a change of the config against the lock
  kubectl operator plugin preview -c plugin_config.yaml --update-lock
  kubectl operator plugin preview -c plugin_config.yaml -o markdown --out plan.tgz

  # What a pull request changes, for every platform
  kubectl operator plugin preview -c new.yaml --against old.yaml --platform all -o markdown

  # What the server's config brings to this machine
  kubectl operator plugin preview --mode client -c https://optimus.example.com/plugin_config.yaml

  # The plugins of a piped on another machine
  kubectl operator plugin preview -c piped.yaml --platform linux/arm64 --location /opt/piped/plugins`

func (a *app) newPluginPreviewCommand() *cobra.Command {
	p := a.newSession()
	var doc documentFlags
	var f pluginFlags
	var screen screenFlag
	cmd := &cobra.Command{
		Use:     "preview",
		Short:   "Show what installing a plugin set would do, without doing it",
		Long:    pluginPreviewLong,
		Example: pluginPreviewExamples,
		Args:    rangeArgs(0, 0, "none: the config is named with -c FILE"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := firstError(f.check(), doc.check(), screen.check(a, cmd.Flags()), p.loadPolicy()); err != nil {
				return err
			}
			p.Read.Offline, p.Expires = true, doc.out.expires
			if screen.on {
				return a.browse(cmd.Context(), review.Options{
					Title: "plugins of " + f.Config, Resolve: func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
						plan, err := p.Sets().PlanSet(ctx, f.SetOptions, nil, progress)
						if err != nil {
							return nil, err
						}
						return plan.Plan, nil
					},
				})
			}
			plan, err := p.Sets().PlanSet(cmd.Context(), f.SetOptions, nil, a.progress())
			if err != nil {
				return err
			}
			return p.documents(cmd.Context(), []reviewedPlan{{Plan: plan.Plan}}, doc)
		},
	}
	flags := cmd.Flags()
	f.add(cmd)
	f.addLock(cmd)
	flags.BoolVar(&f.UpdateLock, "update-lock", false, "rewrite the lock file from the fetched artifacts, instead of checking them against it")
	flags.StringVar(&f.Against, "against", "", "compare with this config, or lock file, as if it were installed, instead of with what is at the location")
	flags.BoolVar(&p.Render.PinImages, "pin-images", false, "resolve the tags of the images that plugins run in, and show the digests behind them")
	screen.add(flags)
	addSetSourceFlags(flags, &p.Source)
	addSignatureFlags(flags, &p.Signatures)
	p.judged.add(flags, &p.Policy)
	doc.add(flags, report.AnyPlan)
	return cmd
}
