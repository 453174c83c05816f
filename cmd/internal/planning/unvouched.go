package planning

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// plainRequest is the request of a plan that starts from a record, before the options of
// the record were added to it, with what makes its content without them.
type plainRequest struct {
	planner   *Planner
	want      PlanRequest
	installed *catalog.Installed // whose upgrade edges are followed; nil for none
	// chosen is true where the package, its catalog and channel are those of the record.
	chosen bool
}

// choosing returns the request with the package that an upgrade chooses: of the catalogs
// and channel in want and, where chosen is set, as the record says.
func (p plainRequest) choosing(want PlanRequest, installed *catalog.Installed, chosen bool) plainRequest {
	p.want.Text, p.want.resolve = want.Text, want.resolve
	p.installed, p.chosen = installed, chosen
	return p
}

// unvouched returns what the plan with contents takes from a record that nothing but the
// Secrets of its namespace vouches for; nil for nothing. upgrade reports whether the
// content is rendered for an installed release.
func (s *startingPoint) unvouched(ctx context.Context, found *Resolution, contents []planned.Content, stored *record.Record, upgrade bool) *preview.UnvouchedOptions {
	if s == nil || s.vouched || s.from == "" {
		return nil
	}
	out := preview.UnvouchedOptions{Hidden: stored != nil && stored.WitnessHidden()}
	switch from := s.plain.installed; {
	case s.plain.chosen:
		out.Package = found.info.Package
	case from != nil && s.plain.choosesOther(ctx, s, found):
		out.Follows = from.Version
	}
	given := s.plain.planner.asked(s.plain.want)
	out.Conflicts = s.after.conflicts != given.conflicts || !maps.Equal(s.after.conflictsOf, given.conflictsOf)
	given.conflicts, given.conflictsOf = s.after.conflicts, s.after.conflictsOf
	if !reflect.DeepEqual(given.comparable(), s.after.comparable()) {
		out.Changes = s.effects(ctx, contents, stored, upgrade)
	}
	if out.IsZero() {
		return nil
	}
	return &out
}

// unvouchedDecisions is [startingPoint.unvouched] for a plan whose request file says all
// options but those about conflicting fields and the platform.
func (s *startingPoint) unvouchedDecisions(stored *record.Record) *preview.UnvouchedOptions {
	if s.vouched || s.from == "" {
		return nil
	}
	given := s.plain.planner.asked(s.plain.want)
	out := preview.UnvouchedOptions{Hidden: stored.WitnessHidden()}
	out.Conflicts = s.after.conflicts != given.conflicts || !maps.Equal(s.after.conflictsOf, given.conflictsOf)
	if s.after.platform != given.platform {
		out.Changes = []string{"all of the content: it is that for the platform " + s.after.platform}
	}
	if out.IsZero() {
		return nil
	}
	return &out
}

// comparable returns settings with empty mappings and lists as nil.
func (s *settings) comparable() settings {
	out := *s
	out.withheld = nil
	for _, row := range rememberedOptions() {
		if at := row.of(&out); isEmpty(at) {
			reflect.ValueOf(at).Elem().SetZero()
		}
	}
	return out
}

// effects returns where the contents differ from those that are rendered without the
// options of the record: object ids with the paths of fields. What differs between two
// equal renderings, such as a random password, does not count.
func (s *startingPoint) effects(ctx context.Context, contents []planned.Content, stored *record.Record, upgrade bool) []string {
	without, err := s.plain.render(ctx, s, stored, upgrade)
	if err != nil {
		return []string{fmt.Sprintf("all of the content: without them it cannot be rendered: %s", err)}
	}
	changes := contentChanges(without, contents)
	if len(changes) == 0 {
		return nil
	}
	if again, err := s.plain.render(ctx, s, stored, upgrade); err == nil {
		unstable := contentChanges(without, again)
		changes = slices.DeleteFunc(changes, func(c string) bool { return slices.Contains(unstable, c) })
	}
	return changes
}

// render makes the content of the request without the options of the record.
func (p *plainRequest) render(ctx context.Context, start *startingPoint, stored *record.Record, upgrade bool) ([]planned.Content, error) {
	with, r, plain, err := p.find(ctx, start, p.installed)
	if err != nil {
		return nil, err
	}
	return with.renderContent(ctx, r, plain, start.release, stored, upgrade)
}

// find finds the content of the request without the options of the record.
func (p *plainRequest) find(ctx context.Context, start *startingPoint, installed *catalog.Installed) (*Planner, *Resolver, *Resolution, error) {
	with, want, err := p.planner.withStart(p.want, &startingPoint{release: start.release, text: start.text, file: start.file})
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := with.Resolver(func(string) {})
	if err != nil {
		return nil, nil, nil, err
	}
	found, err := r.find(ctx, want, installed)
	return with, r, found, err
}

// choosesOther reports whether another version would be found if none was installed.
func (p *plainRequest) choosesOther(ctx context.Context, start *startingPoint, found *Resolution) bool {
	_, _, plain, err := p.find(ctx, start, nil)
	return err != nil || plain.info.Version != found.info.Version || plain.info.Bundle != found.info.Bundle
}

// contentChanges lists where the objects of two contents differ.
func contentChanges(before, after []planned.Content) []string {
	objects := [2]map[string]map[string]any{{}, {}}
	for side, contents := range [][]planned.Content{before, after} {
		for _, content := range contents {
			for i := range content.Objects {
				objects[side][content.Objects[i].ID] = content.Objects[i].Planned
			}
		}
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(union(objects[0], objects[1]))) {
		was, had := objects[0][id]
		is, has := objects[1][id]
		switch {
		case !had:
			out = append(out, id+" is added")
		case !has:
			out = append(out, id+" is left out")
		default:
			for _, c := range diff.Values(was, is) {
				out = append(out, id+" "+c.Path)
			}
		}
	}
	return out
}
