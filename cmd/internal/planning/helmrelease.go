package planning

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// maxHelmRelease is the most bytes that the record of a Helm release may unpack
// to; its Secret has at most 1 MiB.
const maxHelmRelease = 32 << 20

// helmRelease is the record of an installed release of Helm, as far as it is read here.
type helmRelease struct {
	revision int64
	chart    string
	values   map[string]any // as they were given
}

// startFromHelm lets a plan start from the values of the Helm release with the
// same name, if the plan adopts that release's objects and there is no release
// of this program yet. Otherwise it returns with and started unchanged. A request
// file says all values itself, so that those of Helm which it lacks are dropped.
func (p *Planner) startFromHelm(ctx context.Context, want PlanRequest, release preview.Release, found *Resolution, with *Planner, started PlanRequest) (*Planner, PlanRequest, error) {
	if p.Read.Offline || !p.Owners.Adopt || p.Remember.Reset || found.info.Format != helm.Name {
		return with, started, nil
	}
	was, err := p.deployedByHelm(ctx, release)
	if err != nil {
		advice := "give them by --values, and add --reset-options"
		if want.File != nil {
			advice = "--reset-options plans without comparing them"
		}
		return nil, want, fmt.Errorf("reading the values of the Helm release %s in namespace %s, which is adopted: %w; %s", release.Name, release.Namespace, err, advice)
	}
	if was == nil || was.chart != found.info.Package {
		return with, started, nil
	}
	from := fmt.Sprintf("revision %d of Helm release %s", was.revision, release.Name)
	start := &startingPoint{release: release, text: want.Text, from: from, before: &settings{values: was.values}, plain: started.start.plain}
	if want.File != nil {
		start.file = want.File.path
	} else {
		start.first = []preview.OptionChange{{Change: preview.OptionTakenOver, From: from}}
	}
	return p.withStart(want, start)
}

// deployedByHelm returns the deployed Helm release with that name, nil if there
// is none.
func (p *Planner) deployedByHelm(ctx context.Context, release preview.Release) (*helmRelease, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	secrets, err := cluster.List(ctx, "v1", "Secret", release.Namespace, "owner=helm,status=deployed,name="+release.Name)
	if err != nil {
		return nil, err
	}
	var newest *helmRelease
	for _, secret := range secrets {
		if preview.String(secret, "type") != "helm.sh/release.v1" {
			continue
		}
		was, err := readHelmRelease(preview.String(secret, "data", "release"))
		if err != nil {
			return nil, fmt.Errorf("Secret %s: %w", preview.String(secret, "metadata", "name"), err)
		}
		if newest == nil || was.revision > newest.revision {
			newest = was
		}
	}
	return newest, nil
}

// readHelmRelease decodes the value of a Helm release's Secret: JSON in gzip,
// in Helm's base64, in the base64 of the Secret's data.
func readHelmRelease(text string) (*helmRelease, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("it is not base64")
	}
	if data, err = base64.StdEncoding.DecodeString(string(data)); err != nil {
		return nil, errors.New("it is not a release as Helm 3 and 4 keep it")
	}
	if len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(unpacked, maxHelmRelease+1)); err != nil {
			return nil, err
		}
	}
	if len(data) > maxHelmRelease {
		return nil, fmt.Errorf("it unpacks to more than %d MiB", maxHelmRelease>>20)
	}
	decoded, err := preview.DecodeJSON(data)
	if err != nil {
		return nil, err
	}
	body, _ := decoded.(map[string]any)
	was := &helmRelease{chart: preview.String(body, "chart", "metadata", "name"), values: preview.FileNumbers(preview.Map(body, "config"))}
	if was.revision, err = strconv.ParseInt(fmt.Sprint(body["version"]), 10, 64); err != nil || was.chart == "" {
		return nil, errors.New("it names no chart or no revision")
	}
	if was.values == nil {
		was.values = map[string]any{}
	}
	return was, nil
}
