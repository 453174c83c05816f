package field

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// change says which change of a field weakens a protection: ranks has the values of the
// field from the strongest to the weakest, those of equal strength together; without
// ranks, comparison names how two values are compared.
type change struct {
	ranks      [][]string
	comparison string
}

// The comparisons of a field's two values, by their names in the table.
const (
	lost    = "lost"    // what was set is not set any more
	fewer   = "fewer"   // an item of a list or a key of a map is gone
	opens   = "opens"   // a list that restricts is gone, or has a new item
	peers   = "peers"   // a NetworkPolicy allows what it did not allow
	selects = "selects" // a selector leaves out what it selected
	raised  = "raised"  // a quantity is higher, or has no limit any more
)

var comparisons = []string{lost, fewer, opens, peers, selects, raised}

// Values in ranks with a meaning of their own: the field is not set, and any value that
// is not listed.
const (
	notSet   = "-"
	anyOther = "*"
)

func newChange(text string) change {
	if text == "" || slices.Contains(comparisons, text) {
		return change{comparison: text}
	}
	var c change
	for group := range strings.SplitSeq(text, ">") {
		c.ranks = append(c.ranks, strings.Split(group, "|"))
	}
	return c
}

// maxWeakened is the most fields that are listed of one object; the others are counted.
const maxWeakened = 50

// Weakened returns a line for each field whose change makes an object protect less,
// with both values. A field that is missing after the change counts only if complete is
// true: after is the object as the API server returns it.
func Weakened(before, after map[string]any, complete bool) []preview.Seen {
	of := typeOf(before)
	if of == nil || preview.RefOf(before).GroupKind() != preview.RefOf(after).GroupKind() {
		return nil
	}
	c := &comparer{complete: complete}
	c.fields("", before, after, of)
	slices.SortFunc(c.lines, func(a, b preview.Seen) int { return slices.Compare(a.Args, b.Args) })
	if more := len(c.lines) - maxWeakened; more > 0 {
		c.lines = append(c.lines[:maxWeakened], words.MoreNotListed.Of(more))
	}
	return c.lines
}

// Protects says what is lost when an object of a kind is deleted; empty for kinds that
// protect nothing.
func Protects(apiVersion, kind string) string { return parsed().byKind[apiVersion+" "+kind].Protects }

// comparer compares an object before and after a change, and collects the lines of
// [Weakened].
type comparer struct {
	complete bool
	lines    []preview.Seen
}

func (c *comparer) fields(path string, before, after map[string]any, of definition) {
	if of["containers"] != nil && of["automountServiceAccountToken"] != nil {
		before, after = effective(before), effective(after)
	}
	for name, was := range before {
		p, now := of[name], after[name]
		if p == nil {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		c.compare(at, p.weakens, was, now)
		if p.of != nil {
			c.values(at, was, now, p.nesting, p.of)
		}
	}
	for name, now := range after {
		if p := of[name]; p != nil && before[name] == nil && p.weakens.ranks != nil {
			c.compare(strings.TrimPrefix(path+"."+name, "."), p.weakens, nil, now)
		}
	}
}

func (c *comparer) compare(path string, by change, was, now any) {
	if text := by.compare(was, now, c.complete); text != "" {
		c.lines = append(c.lines, words.Named.Of(path, text))
	}
}

// values compares a field of two states of an object. Items of lists are compared with
// the item of the same name; items without a name are not compared.
func (c *comparer) values(path string, was, now any, nesting []bool, of definition) {
	switch was := was.(type) {
	case map[string]any:
		then, _ := now.(map[string]any)
		if len(nesting) == 0 {
			c.fields(path, was, then, of)
			return
		}
		for key, item := range was {
			if then[key] != nil {
				c.values(path+"["+key+"]", item, then[key], nesting[1:], of)
			}
		}
	case []any:
		then := map[string]any{}
		for _, item := range items(now) {
			then[itemName(item)] = item
		}
		for _, item := range was {
			if name := itemName(item); name != "" && then[name] != nil && len(nesting) > 0 {
				c.values(path+"["+name+"]", item, then[name], nesting[1:], of)
			}
		}
	}
}

// itemName returns the name field of a list item, empty if there is none.
func itemName(item any) string {
	m, _ := item.(map[string]any)
	return preview.String(m, "name")
}

// inherited are the fields of a pod's securityContext that apply to containers which do
// not set them.
var inherited = []string{"runAsNonRoot", "runAsUser", "seccompProfile", "appArmorProfile"}

// effective returns a copy of a pod whose containers have the settings of the pod's
// securityContext that apply to them. So a setting that moves from the pod to its
// containers is no change.
func effective(pod map[string]any) map[string]any {
	shared := map[string]any{}
	for _, name := range inherited {
		if v := preview.Value(pod, "securityContext", name); v != nil {
			shared[name] = v
		}
	}
	if len(shared) == 0 {
		return pod
	}
	pod = maps.Clone(pod)
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		var containers []any
		for _, container := range preview.Maps(pod, list) {
			container = maps.Clone(container)
			context := maps.Clone(shared)
			maps.Copy(context, preview.Map(container, "securityContext"))
			container["securityContext"] = context
			containers = append(containers, container)
		}
		if containers != nil {
			pod[list] = containers
		}
	}
	own := maps.Clone(preview.Map(pod, "securityContext"))
	maps.DeleteFunc(own, func(name string, _ any) bool { return shared[name] != nil })
	pod["securityContext"] = own
	return pod
}

// compare returns both values as text if the change weakens a protection, else "".
func (c change) compare(was, now any, complete bool) string {
	if empty(now) && !complete {
		return ""
	}
	weaker := false
	switch c.comparison {
	case "":
		weaker = c.ranks != nil && rank(c.ranks, was) < rank(c.ranks, now)
	case lost:
		weaker = !empty(was) && empty(now)
	case fewer:
		return missing(was, now)
	case opens:
		weaker = !empty(was) && (empty(now) || missing(now, was) != "")
	case peers:
		return added(was, now)
	case selects:
		weaker = !empty(now) && !covers(now, was)
	case raised:
		return raisedLimits(was, now)
	}
	if !weaker {
		return ""
	}
	return shown(was) + " → " + shown(now)
}

// rank returns the index of a value's group in ranks; values that are not listed have
// that of anyOther, or come last.
func rank(ranks [][]string, v any) int {
	text := notSet
	if v != nil {
		text = fmt.Sprint(v)
	}
	other := len(ranks)
	for i, group := range ranks {
		if slices.Contains(group, text) {
			return i
		}
		if slices.Contains(group, anyOther) {
			other = i
		}
	}
	return other
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return false
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// maxCompared is the most items of two lists that are compared with each other.
const maxCompared = 500

// missing returns as text the items of list was that list now does not have. Items with
// a name are compared by it.
func missing(was, now any) string {
	have := map[string]bool{}
	for _, item := range items(now) {
		have[key(item)] = true
	}
	var gone []string
	for _, item := range items(was) {
		if !have[key(item)] {
			gone = append(gone, key(item))
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return cut(strings.Join(gone, ", ")) + " → not there"
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

// key returns the name of a list item, else the whole item as text.
func key(item any) string {
	if name := itemName(item); name != "" {
		return name
	}
	return canonical(item)
}

// added returns as text the rules of a NetworkPolicy that allow traffic which none of
// the earlier rules allowed.
func added(was, now any) string {
	var wider []string
	for i, item := range items(now) {
		rule, _ := item.(map[string]any)
		if i > maxCompared || len(items(was)) > maxCompared || !slices.ContainsFunc(items(was), func(other any) bool {
			earlier, _ := other.(map[string]any)
			return within(rule["from"], earlier["from"]) && within(rule["to"], earlier["to"]) && within(rule["ports"], earlier["ports"])
		}) {
			wider = append(wider, shown(item))
		}
	}
	if len(wider) == 0 {
		return ""
	}
	return "not allowed → " + cut(strings.Join(wider, ", "))
}

// within reports whether all peers or ports of list are in of. An empty list stands for
// all of them.
func within(list, of any) bool { return empty(of) || !empty(list) && subset(list, of) }

// subset reports whether all items of the list of are in list.
func subset(list, of any) bool { return missing(list, of) == "" }

// covers reports whether a label selector selects everything that the other, of,
// selects, judged by comparing their terms.
func covers(selector, of any) bool {
	wide, _ := selector.(map[string]any)
	narrow, _ := of.(map[string]any)
	for name, value := range preview.Map(wide, "matchLabels") {
		if preview.Map(narrow, "matchLabels")[name] != value {
			return false
		}
	}
	return subset(wide["matchExpressions"], narrow["matchExpressions"])
}

// raisedLimits returns as text the quantities of a map that are higher now, or have
// been removed.
func raisedLimits(was, now any) string {
	before, _ := was.(map[string]any)
	after, _ := now.(map[string]any)
	var lines []string
	for _, name := range sortedKeys(before) {
		old, err := resource.ParseQuantity(fmt.Sprint(before[name]))
		limit, broken := resource.ParseQuantity(fmt.Sprint(after[name]))
		if after[name] == nil || err == nil && broken == nil && limit.Cmp(old) > 0 {
			lines = append(lines, name+" "+shown(before[name])+" → "+shown(after[name]))
		}
	}
	return strings.Join(lines, ", ")
}

// maxShown is the most bytes of a value that are shown; a hash stands for the rest.
const maxShown = 200

func shown(v any) string {
	if v == nil {
		return "not set"
	}
	return cut(canonical(v))
}

func canonical(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := preview.Canonical(v)
	if err != nil {
		return "a value that cannot be shown"
	}
	return string(text)
}

func cut(text string) string {
	text = preview.EvidenceName(text)
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "… " + preview.HashBytes([]byte(text))
	}
	return text
}
