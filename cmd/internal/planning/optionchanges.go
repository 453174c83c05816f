package planning

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// optionChanges compares the options of the installed release (before) with
// those of a plan (after). An option that is unchanged and has its default is
// not listed; with nil defaults, no unchanged option is.
func optionChanges(before, after *settings, defaults *format.Defaults) []preview.OptionChange {
	c := optionComparison{before: before, after: after, defaults: defaults, standard: &settings{}}
	if defaults != nil {
		c.standard = &settings{installMode: defaults.Params.InstallMode, certs: defaults.Params.Certs, values: defaults.Params.Values}
	}
	for _, row := range rememberedOptions() {
		switch from := row.of(before).(type) {
		case *map[string]any:
			c.mappings(row, *from, *row.of(after).(*map[string]any))
		default:
			c.option(row)
		}
	}
	order := map[string]int{preview.OptionDropped: 0, preview.OptionChanged: 1, preview.OptionSet: 2, preview.OptionNotKnown: 3, preview.OptionKept: 4}
	slices.SortStableFunc(c.list, func(a, b preview.OptionChange) int { return order[a.Change] - order[b.Change] })
	return c.list
}

// catalogChanges compares the catalog and channel of the installed version with those of
// the chosen one (to), nil where a plan chooses in no catalog. The channel of the package's
// default is not listed where it stays, nor the same catalog.
func catalogChanges(catalogBefore, channelBefore string, to *catalog.Choice) []preview.OptionChange {
	if to == nil || catalogBefore == "" {
		return nil
	}
	c := optionComparison{defaults: &format.Defaults{}}
	channel := to.Channel
	if channel == to.DefaultChannel && channel != channelBefore {
		channel = "" // dropped
	}
	c.add(preview.OptionChange{Option: "channel", Default: to.DefaultChannel}, channelBefore, channel, channel == to.DefaultChannel)
	if catalogBefore != to.Catalog.Reference {
		c.add(preview.OptionChange{Option: "catalog"}, catalogBefore, to.Catalog.Reference, false)
	}
	return c.list
}

type optionComparison struct {
	before, after, standard *settings
	defaults                *format.Defaults
	list                    []preview.OptionChange
}

// option compares an option whose value is a string, a bool or a list.
func (c *optionComparison) option(row rememberedOption) {
	from, to, standard := optionText(row.of(c.before)), optionText(row.of(c.after)), optionText(row.of(c.standard))
	if from == "false" {
		from = ""
	}
	if to == "false" {
		to = ""
	}
	change := preview.OptionChange{Option: row.flag, Default: standard}
	if row.resolved && standard == "" || standard == "false" {
		change.Default = ""
	}
	c.add(change, from, to, row.resolved && standard != "" && to == standard)
}

// add adds a change with both texts of an option. An unchanged one is left out
// if it is empty or the default (standard), or if no defaults are known.
func (c *optionComparison) add(change preview.OptionChange, from, to string, standard bool) {
	switch change.From, change.To = from, to; {
	case from == to && (to == "" || standard || c.defaults == nil):
		return
	case from == to:
		change.Change, change.From = preview.OptionKept, ""
	case from == "":
		change.Change = preview.OptionSet
	case to == "":
		change.Change = preview.OptionDropped
	default:
		change.Change = preview.OptionChanged
	}
	c.list = append(c.list, change)
}

// mappings compares an option whose value is a mapping, path by path.
func (c *optionComparison) mappings(row rememberedOption, before, after map[string]any) {
	prefix := ""
	if row.flag == variableOption {
		prefix = variableOption + "."
	}
	old, now := c.leaves(row, before, prefix), c.leaves(row, after, prefix)
	for path := range c.before.withheld { // a record has the path alone
		if row.flag != conflictsFlag && strings.HasPrefix(path, variableOption+".") == (prefix != "") {
			keys := strings.Split(strings.TrimPrefix(path, prefix), ".")
			old[path] = leaf{keys, preview.Masked}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(union(old, now))) {
		from, to := old[path], now[path]
		keys := to.keys
		if keys == nil {
			keys = from.keys
		}
		change := preview.OptionChange{Option: row.flag, Keys: keys}
		standard, known := c.standardValue(row, keys)
		change.Default = standard
		if to.text == preview.Masked || from.text == preview.Masked {
			change.Default = ""
		}
		at := len(c.list)
		c.add(change, from.text, to.text, known && to.text == standard)
		if len(c.list) > at && from.text == to.text && row.flag == setFlag && c.defaults.Known != nil && !c.defaults.Known(keys) {
			c.list[at].Change = preview.OptionNotKnown
		}
	}
}

// standardValue returns the default of the value at a path (keys), as text;
// known is false if it has none or is secret.
func (c *optionComparison) standardValue(row rememberedOption, keys []string) (text string, known bool) {
	var value any = *row.of(c.standard).(*map[string]any)
	for _, key := range keys {
		m, ok := value.(map[string]any)
		if !ok {
			return "", false
		}
		if value, known = m[key]; !known {
			return "", false
		}
		if preview.SensitiveName(key) && !namesSecret(key) {
			return "", false
		}
	}
	return valueText(value), known
}

// leaf is one value in a mapping, by its path: no mapping itself, or an empty one.
type leaf struct {
	keys []string
	text string
}

// leaves returns the leaves of a mapping by their paths; secret ones are masked.
func (c *optionComparison) leaves(row rememberedOption, values map[string]any, prefix string) map[string]leaf {
	out := map[string]leaf{}
	list, err := preview.SetValues(values, func(keys []string, value any) bool {
		if row.flag == conflictsFlag {
			return false // by object, whatever that is called
		}
		path := prefix + strings.Join(keys, ".")
		below, isMap := value.(map[string]any)
		return c.before.withheld[path] || c.after.withheld[path] || !(isMap && len(below) > 0) && isSecret(keys[len(keys)-1], value)
	})
	if err != nil {
		return out // hashing the values said it
	}
	for _, v := range list {
		text := preview.Masked
		if !v.Withheld {
			value, _ := v.Value() // made just now
			text = valueText(value)
		}
		out[prefix+v.Path()] = leaf{v.Keys, text}
	}
	return out
}

func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// maxOptionText is the most bytes of one value in a review; the rest is cut off.
const maxOptionText = 200

// valueText returns a value as it is written after --set KEY=.
func valueText(value any) string {
	text, isText := value.(string)
	if !isText || text == "" {
		data, err := preview.Canonical(value)
		if err != nil {
			return "?"
		}
		text = string(data)
	}
	if len(text) > maxOptionText {
		text = strings.ToValidUTF8(text[:maxOptionText], "") + "…"
	}
	return text
}

// optionText returns the value of an option as it is written after its flag.
func optionText(at any) string {
	switch v := at.(type) {
	case *string:
		return *v
	case *bool:
		return strconv.FormatBool(*v)
	case *[]string:
		return strings.Join(*v, ",")
	}
	return ""
}
