package planning

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// startFromHelm lets a plan start from the values of the Helm release with the
// same name, if the plan adopts that release's objects and there is no release
// of this program yet. Otherwise it returns with and started unchanged. A request
// file says all values itself, so that those of Helm which it lacks are dropped.
func (p *Planner) startFromHelm(ctx context.Context, want PlanRequest, release preview.Release, found *Resolution, with *Planner, started PlanRequest) (*Planner, PlanRequest, error) {
	if p.Read.Offline || !p.Owners.Adopt || p.Remember.Reset || found.info.Format != helm.Name {
		return with, started, nil
	}
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, want, err
	}
	was, err := applier.ReadHelm(ctx, cluster, release, release.Namespace)
	if err != nil {
		advice := "give them by --values, and add --reset-options"
		if want.File != nil {
			advice = "--reset-options plans without comparing them"
		}
		return nil, want, fmt.Errorf("reading the values of the Helm release %s in namespace %s, which is adopted: %w; %s", release.Name, release.Namespace, err, advice)
	}
	if was == nil || was.Current.State != "deployed" || was.Current.Chart != found.info.Package {
		return with, started, nil
	}
	from := fmt.Sprintf("revision %d of Helm release %s", was.Current.Revision, release.Name)
	start := &startingPoint{release: release, text: want.Text, from: from, before: &settings{values: was.Current.Values}, plain: started.start.plain}
	if want.File != nil {
		start.file = want.File.path
	} else {
		start.first = []preview.OptionChange{{Change: preview.OptionTakenOver, From: from}}
	}
	return p.withStart(want, start)
}
