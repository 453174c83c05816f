package planning

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/assignment"
)

// RememberOptions say whether a plan starts from the options of the installed
// release, or without them.
type RememberOptions struct {
	// Reset leaves all of them out.
	Reset bool
	// DefaultValues leaves the values out.
	DefaultValues bool
	// Given reports whether a flag was on the command line. Where it is nil, an
	// option that is not empty was given.
	Given func(flag string) bool
}

// settings are the options of a release that its record keeps, and from which
// the next plan starts.
type settings struct {
	installMode     string
	watchNamespaces []string
	certs           string
	values          map[string]any
	variables       map[string]any // of a kustomization
	format, path    string
	platform        string
	pinImages       bool
	conflicts       string         // empty is the default
	conflictsOf     map[string]any // take or leave, by object id
	strict          bool

	// withheld are the paths of values that are secret, joined by dots: a record has
	// the path alone.
	withheld map[string]bool
}

// rememberedOption describes one option that records keep, for [rememberedOptions].
type rememberedOption struct {
	flag   string   // without dashes; of values set, which is also their name in a review
	fields []string // of [Options] that hold it
	inFile bool     // a request file says it, and is silent where the default counts
	// of returns where settings have it: a *string, *bool, *[]string or
	// *map[string]any.
	of func(*settings) any
	// resolved is set where the record has what an empty option led to.
	resolved bool
}

// rememberedOptions are the options that records keep and that the next plan starts
// from. A test names for each other field of [Options] the reason why no record
// decides it: what is trusted, what else is read, and how a run goes is up to the
// user who plans, because a tenant of the namespace may be able to write the record.
func rememberedOptions() []rememberedOption {
	return []rememberedOption{
		{"install-mode", []string{"Render.InstallMode"}, true, func(s *settings) any { return &s.installMode }, true},
		{"watch-namespace", []string{"Render.WatchNamespaces"}, true, func(s *settings) any { return &s.watchNamespaces }, true},
		{"certs", []string{"Render.Certs"}, true, func(s *settings) any { return &s.certs }, true},
		{setFlag, []string{"Render.Values", "Render.Set", "Render.SetString", "Render.SetJSON", "Render.SetFile"}, true, func(s *settings) any { return &s.values }, false},
		{variableOption, nil, true, func(s *settings) any { return &s.variables }, false},
		{"format", []string{"Content.Format"}, true, func(s *settings) any { return &s.format }, false},
		{"path", []string{"Content.Path"}, true, func(s *settings) any { return &s.path }, false},
		{"pin-images", []string{"Render.PinImages"}, true, func(s *settings) any { return &s.pinImages }, false},
		{"platform", []string{"Source.Platform"}, false, func(s *settings) any { return &s.platform }, false},
		{conflictsFlag, []string{"Owners.Conflicts", "Owners.ForAll"}, false, func(s *settings) any { return &s.conflicts }, false},
		{conflictsFlag, []string{"Owners.ConflictsOf"}, false, func(s *settings) any { return &s.conflictsOf }, false},
		{"strict", []string{"Owners.Strict"}, false, func(s *settings) any { return &s.strict }, false},
	}
}

const (
	setFlag        = "set"
	conflictsFlag  = "conflicts"
	variableOption = "variables" // no flag: request files alone have them
)

// asked are the options of one plan as flags and the request file give them.
type asked struct {
	settings
	file            bool // a request file says them, with flags beside it
	given           func(flag string) bool
	reset, defaults bool // --reset-options, --values-from-defaults
}

// says reports whether an option is given, even as an empty value.
func (a *asked) says(row rememberedOption) bool {
	switch {
	case a.file && row.inFile:
		return true
	case a.given != nil:
		return a.given(row.flag)
	}
	return !isEmpty(row.of(&a.settings))
}

func isEmpty(at any) bool {
	v := reflect.ValueOf(at).Elem()
	return v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// startFrom returns the options to plan with: those of the installed release
// (before, nil for none), changed by those that are given. It also returns the
// paths of secret values, which no record keeps, that must be given again.
func (a *asked) startFrom(before *settings) (settings, []string) {
	if before == nil || a.reset {
		return a.settings, nil
	}
	out := a.settings
	_, watches := before.values["watchNamespace"]
	for _, row := range rememberedOptions() {
		switch from, to := row.of(before), row.of(&out); {
		case row.flag == setFlag && !a.file:
			if !a.defaults {
				out.values = merged(before.values, a.values)
			}
		case (row.flag == "install-mode" || row.flag == "watch-namespace") && (watches || a.watches()):
			// One follows from the other, or both from the value watchNamespace.
		case to == any(&out.conflictsOf):
			if !a.says(rowOf(conflictsFlag)) { // nothing for all objects, which counts for each
				out.conflictsOf = merged(before.conflictsOf, a.conflictsOf)
			}
		case !a.says(row):
			reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
		}
	}
	if a.file || a.defaults {
		return out, nil
	}
	var missing []string
	for path := range before.withheld {
		if !covers(out.values, path) {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return out, missing
}

// merged returns a copy of values with the mapping over merged into it.
func merged(values, over map[string]any) map[string]any {
	out := map[string]any{}
	assignment.Merge(out, preview.CloneBody(values))
	assignment.Merge(out, preview.CloneBody(over))
	return out
}

// watches reports whether an option is given that decides which namespaces the
// operator watches.
func (a *asked) watches() bool {
	if _, ok := a.values["watchNamespace"]; ok {
		return true
	}
	for _, row := range rememberedOptions() {
		if (row.flag == "install-mode" || row.flag == "watch-namespace") && a.says(row) {
			return true
		}
	}
	return false
}

// covers reports whether values have a value at a path (keys joined by dots), or
// one that is no mapping at the beginning of the path, which replaces all below.
func covers(values map[string]any, path string) bool {
	if _, ok := values[path]; ok {
		return true
	}
	for at := range len(path) {
		if path[at] != '.' {
			continue
		}
		switch below := values[path[:at]].(type) {
		case nil:
		case map[string]any:
			if covers(below, path[at+1:]) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// release returns the settings as a plan and its record have them, without
// secret values.
func (s *settings) release() (*preview.ReleaseOptions, error) {
	withheld := func(keys []string, _ any) bool { return s.withheld[strings.Join(keys, ".")] }
	values, err := preview.SetValues(s.values, withheld)
	if err != nil {
		return nil, err
	}
	variables, err := preview.SetValues(s.variables, func(keys []string, value any) bool {
		return withheld(append([]string{variableOption}, keys...), value)
	})
	out := &preview.ReleaseOptions{
		Values: values, Variables: variables, Format: s.format, Path: s.path, Platform: s.platform,
		PinImages: s.pinImages, Conflicts: s.conflicts, ConflictsOf: textsOf(s.conflictsOf), Strict: s.strict,
	}
	if out.IsZero() {
		out = nil
	}
	return out, err
}

// settingsOf returns the settings in the options of a plan or a record. They
// are checked as flags are, because anything can be written into a record.
func settingsOf(o *preview.ReleaseOptions, resolved preview.Parameters) (*settings, error) {
	s := &settings{
		installMode: resolved.InstallMode, watchNamespaces: resolved.WatchNamespaces, certs: resolved.Certs,
		format: o.Format, path: o.Path, platform: o.Platform, pinImages: o.PinImages, conflicts: o.Conflicts, conflictsOf: mappingOf(o.ConflictsOf), strict: o.Strict,
		withheld: map[string]bool{},
	}
	var err error
	if s.values, err = preview.NestValues(o.Values); err != nil {
		return nil, err
	}
	if s.variables, err = preview.NestValues(o.Variables); err != nil {
		return nil, err
	}
	for _, v := range o.Values {
		if v.Withheld {
			s.withheld[v.Path()] = true
		}
	}
	for _, v := range o.Variables {
		if v.Withheld {
			s.withheld[variableOption+"."+v.Path()] = true
		}
	}
	if !slices.Contains([]string{"", preview.ConflictsTake, preview.ConflictsLeave}, o.Conflicts) {
		return nil, fmt.Errorf("conflicts %q is none of take and leave", o.Conflicts)
	}
	for id, decided := range o.ConflictsOf {
		if _, _, _, _, err := preview.ParseID(id); err != nil || decided != preview.ConflictsTake && decided != preview.ConflictsLeave {
			return nil, fmt.Errorf("conflicts of %q: %q is none of take and leave, or of no object", id, decided)
		}
	}
	if f := (SourceOptions{Platform: o.Platform}); f.severalPlatforms() || f.checkPlatforms() != nil {
		return nil, fmt.Errorf("platform %q is none", o.Platform)
	}
	return s, nil
}

// textsOf returns a mapping of strings, nil for an empty one; mappingOf is its reverse.
func textsOf(values map[string]any) map[string]string {
	if len(values) == 0 {
		return nil
	}
	out := map[string]string{}
	for name, value := range values {
		out[name], _ = value.(string)
	}
	return out
}

func mappingOf(texts map[string]string) map[string]any {
	if len(texts) == 0 {
		return nil
	}
	out := map[string]any{}
	for name, text := range texts {
		out[name] = text
	}
	return out
}

// withhold marks the secret values, which plans and records leave out: those whose
// key is that of a secret, and those that are also the value of a Secret of the plan
// (held). With all, as for a request with values from a Secret, it marks every value.
func (s *settings) withhold(held map[string]bool, all bool) {
	s.withheld = map[string]bool{}
	var walk func(prefix string, values map[string]any)
	walk = func(prefix string, values map[string]any) {
		for key, value := range values {
			switch below, isMap := value.(map[string]any); {
			case isMap && len(below) > 0 && !all:
				walk(prefix+key+".", below)
			case all || isSecret(key, value) || holdsAny(value, held):
				s.withheld[prefix+key] = true
			}
		}
	}
	walk("", s.values)
	walk(variableOption+".", s.variables)
}

// isSecret reports whether a value is secret by its key, or a list by a key in
// it. A bool is not, and neither is the name of a Secret.
func isSecret(key string, value any) bool {
	switch value := value.(type) {
	case nil, bool:
		return false
	case []any:
		_, secrets := preview.MaskValues(map[string]any{key: value})
		return len(secrets) > 0
	case string:
		return value != "" && preview.SensitiveName(key) && !namesSecret(key)
	}
	return preview.SensitiveName(key)
}

// namesSecret reports whether a key is, by its usual ending in charts, that of the name
// or path of a secret ("passwordFile", "existingSecret"), not of the secret itself.
func namesSecret(key string) bool {
	for _, end := range []string{"Name", "Ref", "File", "Path", "Namespace", "Url", "URL"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return strings.HasPrefix(key, "existing")
}

// holdsAny reports whether a value, or a value in that list or mapping, is one of held.
func holdsAny(value any, held map[string]bool) bool {
	switch value := value.(type) {
	case string:
		return held[value]
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return holdsAny(item, held) })
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), func(item any) bool { return holdsAny(item, held) })
	}
	return false
}
