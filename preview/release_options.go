package preview

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ReleaseOptions are the options of a release that its next plan starts from, except the
// ones in [Parameters]. They are facts of a plan, and the release's record keeps them.
//
// Values are those that were given, merged: of a file its content is kept, and not its
// path. Secret values are [SetValue.Withheld]: those whose key is a sensitive name,
// those that a Secret of the plan holds, and all values of a request that takes some
// from a Secret, as records have no values of Secrets either.
type ReleaseOptions struct {
	// Values lists the values that were given, sorted by path.
	Values []SetValue `json:"values,omitempty"`
	// Variables lists the variables of a kustomization, sorted.
	Variables []SetValue `json:"variables,omitempty"`
	// Format is the format that was chosen; empty where it was detected.
	Format string `json:"format,omitempty"`
	// Path is the directory within the content.
	Path string `json:"path,omitempty"`
	// Platform is the one that was chosen of a multi-platform image; empty for the
	// default.
	Platform string `json:"platform,omitempty"`
	// PinImages says that the tags of the pods' images are resolved to digests.
	PinImages bool `json:"pinImages,omitempty"`
	// Conflicts says how contested fields are decided: take or leave; empty for the
	// default.
	Conflicts string `json:"conflicts,omitempty"`
	// ConflictsOf decides about the contested fields of single objects, by object id.
	ConflictsOf map[string]string `json:"conflictsOf,omitempty"`
	// Strict refuses objects of kinds that the cluster does not serve.
	Strict bool `json:"strict,omitempty"`
	// CloudPolicies were attached by the reviewer. A plan does not start from them:
	// each version needs its own.
	CloudPolicies []CloudPolicy `json:"cloudPolicies,omitempty"`
	// Unknown is true for a rollback to a revision that an older version of the program
	// recorded, which kept no options.
	Unknown bool `json:"unknown,omitempty"`
}

// CloudPolicy is a document of a package's publisher, apart from the package, with the
// permissions that the package needs in a cloud.
type CloudPolicy struct {
	// SHA256 is the sha256 of the file, as "sha256:HEX".
	SHA256 string `json:"sha256"`
	// Documents lists the documents of the file, in canonical JSON.
	Documents []string `json:"documents"`
}

// SetValue is one value that was given for a package, in place of its default.
type SetValue struct {
	// Keys is the path of the value: map keys from the outermost.
	Keys []string `json:"keys"`
	// JSON is the value in canonical JSON; empty where it is withheld.
	JSON string `json:"json,omitempty"`
	// Integers is true if numbers without a point are integers, as --set gives them; in
	// other values each number is floating-point, as Helm reads files.
	Integers bool `json:"integers,omitempty"`
	// Withheld is true if the value is secret: no plan and no record has it.
	Withheld bool `json:"withheld,omitempty"`
}

// Path returns the keys joined by dots, as in --set, for messages.
func (v SetValue) Path() string { return strings.Join(v.Keys, ".") }

// Value returns the decoded value. JSON is decoded as the only element of a list,
// because [DecodeJSON] does not accept null alone.
func (v SetValue) Value() (any, error) {
	decoded, err := DecodeJSON([]byte("[" + v.JSON + "]"))
	if err != nil {
		return nil, fmt.Errorf("value %s: %w", v.Path(), err)
	}
	if list, ok := decoded.([]any); ok && len(list) == 1 {
		if v.Integers {
			return DecodeExactJSON([]byte(v.JSON))
		}
		return withScalar(list[0], fileNumber), nil
	}
	return nil, fmt.Errorf("value %s is not one value", v.Path())
}

// IsZero reports whether the options are all defaults.
func (o *ReleaseOptions) IsZero() bool {
	return o == nil || len(o.Values) == 0 && len(o.Variables) == 0 && o.Format == "" && o.Path == "" && o.Platform == "" &&
		!o.PinImages && o.Conflicts == "" && len(o.ConflictsOf) == 0 && len(o.CloudPolicies) == 0 && !o.Strict && !o.Unknown
}

// OptionsDigest returns the digest of the data that a release's next plan takes from the
// record of a revision: the options, the package and the catalog; empty for nothing. It
// includes the digest of the revision's plan, so that it differs from every other
// revision's.
func OptionsDigest(release Release, revision int, plan string, options *ReleaseOptions, packages []Package) (string, error) {
	of := struct {
		Release  Release
		Revision int
		Plan     string
		Options  *ReleaseOptions
		Packages []Package
	}{release, revision, plan, options, nil}
	chosen := !options.IsZero()
	for i := range packages {
		pkg := Package{Name: packages[i].Name, Version: packages[i].Version, Bundle: packages[i].Bundle, Via: packages[i].Via}
		params := packages[i].Parameters
		pkg.Parameters = Parameters{InstallMode: params.InstallMode, WatchNamespaces: params.WatchNamespaces, Certs: params.Certs, Section: params.Section}
		chosen = chosen || len(pkg.Via) > 0 || params.InstallMode != "" || len(params.WatchNamespaces) > 0 || params.Certs != ""
		of.Packages = append(of.Packages, pkg)
	}
	if !chosen {
		return "", nil
	}
	return hashStruct(of)
}

// SetValues returns the leaves of values, sorted by path. If withheld returns true for a
// leaf or mapping, the result has it without its value, a mapping as a whole.
func SetValues(values map[string]any, withheld func(keys []string, value any) bool) ([]SetValue, error) {
	out, err := leavesBelow(nil, nil, values, withheld)
	slices.SortFunc(out, func(a, b SetValue) int { return slices.Compare(a.Keys, b.Keys) })
	return out, err
}

func leavesBelow(out []SetValue, above []string, values map[string]any, withheld func([]string, any) bool) ([]SetValue, error) {
	for key, value := range values {
		keys := append(slices.Clone(above), key)
		if withheld(keys, value) {
			out = append(out, SetValue{Keys: keys, Withheld: true})
			continue
		}
		if below, ok := value.(map[string]any); ok && len(below) > 0 {
			var err error
			if out, err = leavesBelow(out, keys, below, withheld); err != nil {
				return nil, err
			}
			continue
		}
		text, err := Canonical(value)
		integers := holdsInteger(value)
		if err == nil && integers {
			text, err = ExactJSON(value)
		}
		if err != nil {
			return nil, fmt.Errorf("value %s: %w", strings.Join(keys, "."), err)
		}
		out = append(out, SetValue{Keys: keys, JSON: string(text), Integers: integers})
	}
	return out, nil
}

// NestValues returns the nested mapping of a list from [SetValues]. Withheld values are
// left out. It errs for an invalid list.
func NestValues(list []SetValue) (map[string]any, error) {
	out := map[string]any{}
	for _, v := range list {
		if len(v.Keys) == 0 || v.Withheld == (v.JSON != "") {
			return nil, errors.New("a value has no name, or not one value")
		}
		if v.Withheld {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return nil, err
		}
		at := out
		for _, key := range v.Keys[:len(v.Keys)-1] {
			below, known := at[key].(map[string]any)
			if _, other := at[key]; other && !known {
				return nil, fmt.Errorf("value %s is below one that is no mapping", v.Path())
			}
			if !known {
				below = map[string]any{}
				at[key] = below
			}
			at = below
		}
		last := v.Keys[len(v.Keys)-1]
		if _, twice := at[last]; twice {
			return nil, fmt.Errorf("value %s stands there twice", v.Path())
		}
		at[last] = value
	}
	return out, nil
}

// Changes of an option of the installed release by a plan ([OptionChange.Change]). The
// set is closed.
const (
	OptionKept       = "kept"       // has the installed value, which is not the default
	OptionSet        = "set"        // was the default before
	OptionChanged    = "changed"    // from one value to another
	OptionDropped    = "dropped"    // back to the default
	OptionNotKnown   = "not known"  // kept, but the package has no such value
	OptionUnrecorded = "unrecorded" // not in the record of an older version of this program
	OptionTakenOver  = "taken over" // from the Helm release that is adopted
)

// OptionChange says what becomes of one option of the installed release.
type OptionChange struct {
	// Option is the name of the flag, set for a value; empty if the change is about all
	// options.
	Option string `json:"option"`
	// Keys is the path of the value, for the options set and variables; for conflicts,
	// the id of the object.
	Keys []string `json:"keys,omitempty"`
	// Change is kept, set, changed, dropped, not known, unrecorded or taken over.
	Change string `json:"change"`
	// From is the value of the installed release, with secret values masked.
	From string `json:"from,omitempty"`
	// To is the value in the plan.
	To string `json:"to,omitempty"`
	// Default is the value that applies without the option; empty where that is not
	// known.
	Default string `json:"default,omitempty"`
}

// Text returns the outcome of the option, in words that follow the word of Change.
func (c OptionChange) Text() string {
	name := "--" + c.Option + " "
	switch {
	case len(c.Keys) > 0 && c.Option == "conflicts":
		name += c.Keys[0] + "="
	case len(c.Keys) > 0:
		name = strings.Join(c.Keys, ".") + "="
	}
	text := ""
	switch c.Change {
	case OptionUnrecorded:
		return c.From + " keeps no options: an older version of this program recorded it; the package's defaults count where no flag says otherwise"
	case OptionTakenOver:
		return "the values of " + c.From
	case OptionChanged:
		text = name + c.From + " -> " + c.To
	case OptionDropped:
		text = name + c.From
	case OptionNotKnown:
		return name + c.To + ", and the package has no such value: it may be without effect; upgrade with --values-from-defaults drops all values"
	case OptionKept:
		if c.To == Masked {
			text = strings.TrimSuffix(name, "=") + ", which is secret and not put on record"
			break
		}
		fallthrough
	default:
		text = name + c.To
	}
	if c.Default != "" {
		text += "; the default is " + c.Default
	}
	return text
}
