package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// watched returns the last parts of the paths of fields whose changes are listed, as
// cluster administrators look at them.
func watched() []string {
	return []string{
		".replicas", ".command", ".args", ".serviceAccountName", ".schedule", ".suspend", ".spec.type", ".strategy.type", ".requests.storage", ".storageClassName", ".failurePolicy",
		".hostNetwork", ".hostPID", ".privileged", ".runAsUser", ".nodeSelector", ".minReplicas", ".maxReplicas", ".cpu", ".memory",
		".port", ".nodePort", ".externalTrafficPolicy", ".clusterIP", ".maxUnavailable", ".minAvailable", ".priorityClassName",
	}
}

// Watches reports whether people who run clusters look at a changed field first.
func Watches(o *preview.Object, path string) bool {
	return isWatched(o, path) || !o.Is(preview.KindCustomResourceDefinition) && strings.HasSuffix(withoutIndex(path), ".image")
}

// isWatched reports whether the change of a field is listed. Of a CRD only scope and
// conversion are, as a broken schema is a finding.
func isWatched(o *preview.Object, path string) bool {
	ends := watched()
	if o.Is(preview.KindCustomResourceDefinition) {
		ends = []string{".spec.scope", ".spec.conversion.strategy"}
	}
	path = withoutIndex(path)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
}

// fieldChanges are the changed fields of a plan, divided by how the verdict lists them.
type fieldChanges struct {
	fields   []preview.Highlight
	replaced []string
	images   imageChanges // of containers
	related  imageChanges // of environment variables that name images
	others   int
}

func fieldsOf(p *preview.Plan) *fieldChanges {
	c := &fieldChanges{}
	for _, o := range slices.Concat(updated(p), replaced(p)) {
		if o.replaces != "" {
			c.replaced = append(c.replaced, o.label+" replaces "+o.replaces)
		}
		whole := containersOf(o.changes)
		for _, change := range o.changes {
			container, inside := containerOf(change.Path)
			switch of := whole[container]; {
			case inside && of != nil && of.Path == change.Path:
				c.fields = append(c.fields, fieldOf(o.label, containerText(container, change)))
			case inside && of != nil: // said with its container
			default:
				c.add(o, change)
			}
		}
	}
	return c
}

// fieldOf returns the highlight of what changes in an object, or in some.
func fieldOf(objects, what string) preview.Highlight {
	return preview.Highlight{Topic: preview.TopicField, Who: objects, What: what}
}

func (c *fieldChanges) add(o changedObject, change preview.Change) {
	isDefinition := o.Is(preview.KindCustomResourceDefinition)
	switch path := withoutIndex(change.Path); {
	case !isDefinition && strings.HasSuffix(path, ".image") && change.Op == "change":
		c.images.add(imageChange(value(change.From), value(change.To)), o.label)
	case !isDefinition && namesImage(path) && isImage(change.From) && isImage(change.To):
		c.related.add(imageChange(value(change.From), value(change.To)), o.label)
	case isWatched(o.Object, change.Path):
		c.fields = append(c.fields, fieldOf(o.label, changeText(change)))
	default:
		c.others++
	}
}

// namesImage reports whether a field is an environment variable with IMAGE in its name,
// and an operator reads the images that it runs from it.
func namesImage(path string) bool {
	at := strings.LastIndex(path, ".env[name=")
	return at >= 0 && strings.HasSuffix(path, "].value") && strings.Contains(path[at:], "IMAGE")
}

// isImage reports whether a value is an image reference with a tag or a digest.
func isImage(v any) bool {
	text, isText := v.(string)
	return isText && strings.Contains(text, "/") && repository(text) != text && !strings.ContainsAny(text, "\n\t =")
}

// imageChanges are changes of images, each once, with the objects that have the image.
type imageChanges struct {
	texts []string
	in    map[string][]string
}

func (i *imageChanges) add(change, label string) {
	if i.in == nil {
		i.in = map[string][]string{}
	}
	if len(i.in[change]) == 0 {
		i.texts = append(i.texts, change)
	}
	if !slices.Contains(i.in[change], label) {
		i.in[change] = append(i.in[change], label)
	}
}

// list returns a line for each change of an image, with the objects that have it.
func (i *imageChanges) list() []string {
	var out []string
	for _, change := range i.texts {
		out = append(out, change+" ("+objectList(i.in[change])+")")
	}
	return out
}

// environments returns a line for each set of objects, with all changed images in their
// environment variables.
func (i *imageChanges) environments() []preview.Highlight {
	var in []string
	of := map[string][]string{}
	for _, change := range i.texts {
		objects := objectList(i.in[change])
		if of[objects] == nil {
			in = append(in, objects)
		}
		of[objects] = append(of[objects], change)
	}
	var out []preview.Highlight
	for _, objects := range in {
		out = append(out, fieldOf(objects, "images in the environment: "+strings.Join(of[objects], ", ")))
	}
	return out
}

// objectList returns the labels of objects in a list. The kind is left out if the object
// before has the same.
func objectList(labels []string) string {
	var out []string
	last := ""
	for _, label := range labels {
		kind, name, _ := strings.Cut(label, " ")
		if kind == last {
			label = name
		}
		out, last = append(out, label), kind
	}
	return strings.Join(out, ", ")
}

// changedObject is an object of the plan with its changed fields.
type changedObject struct {
	*preview.Object
	label    string // kind and name
	replaces string // kind and name of the object whose place it takes, if any
	changes  []preview.Change
}

func updated(p *preview.Plan) []changedObject {
	var out []changedObject
	for i := range p.Objects {
		if o := &p.Objects[i]; len(o.Changes) > 0 {
			out = append(out, changedObject{o, o.Kind + " " + o.Name, "", o.Changes})
		}
	}
	return out
}

// replaced pairs workloads that the plan deletes with those that it creates in their
// place: of the same kind and namespace, with a container of the same name and image
// repository. Some packages have their version in the names of workloads. The changes
// are those between the two objects.
func replaced(p *preview.Plan) []changedObject {
	type place struct {
		kind                 preview.GroupKind
		namespace, container string
		repository           string
	}
	places := func(o *preview.Object, body map[string]any) []place {
		var out []place
		for name, image := range containers(body) {
			if image != "" {
				out = append(out, place{o.GroupKind(), o.Namespace, name, image})
			}
		}
		return out
	}
	deleted := map[place][]*preview.Object{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Action == preview.ActionDelete {
			for _, at := range places(o, o.LiveBody) {
				deleted[at] = append(deleted[at], o)
			}
		}
	}
	var out []changedObject
	taken := map[*preview.Object]bool{}
	for i := range p.Objects {
		created := &p.Objects[i]
		if created.Action != preview.ActionCreate || len(deleted) == 0 {
			continue
		}
		for _, at := range places(created, created.Planned) {
			// Of several that might be meant, none is taken for the other.
			if list := deleted[at]; len(list) == 1 && !taken[list[0]] {
				taken[list[0]] = true
				out = append(out, changedObject{created, created.Kind + " " + created.Name, list[0].Kind + " " + list[0].Name, specChanges(list[0].LiveBody, created.Planned)})
				break
			}
		}
	}
	return out
}

// specChanges returns the differences between the specs of two objects. Their metadata
// is left out, as names differ.
func specChanges(before, after map[string]any) []preview.Change {
	before, after = preview.WithoutVolatile(before, after), preview.WithoutVolatile(after, after)
	return slices.DeleteFunc(diff.Changes(before, after), func(change preview.Change) bool { return !strings.HasPrefix(change.Path, ".spec") })
}

// containers returns the image repository of each container in an object's pod
// template, by the container's name.
func containers(body map[string]any) map[string]string {
	spec, _ := preview.PodTemplate(body)
	out := map[string]string{}
	for _, container := range preview.Maps(spec, "containers") {
		name, _ := container["name"].(string)
		image, _ := container["image"].(string)
		out[name] = repository(image)
	}
	return out
}

// containerOf returns the path of the container that a field is in; inside is false for
// fields outside of containers.
func containerOf(path string) (container string, inside bool) {
	at := strings.Index(path, "ontainers[")
	if at < 0 {
		return "", false
	}
	end := strings.Index(path[at:], "]")
	if end < 0 {
		return "", false
	}
	return path[:at+end+1], true
}

// containersOf returns, by path, for each container that is added or removed the change
// to list: the whole container or its image.
func containersOf(list []preview.Change) map[string]*preview.Change {
	out := map[string]*preview.Change{}
	for i, change := range list {
		if container, inside := containerOf(change.Path); inside && change.Op != "change" && (change.Path == container || change.Path == container+".image") {
			out[container] = &list[i]
		}
	}
	return out
}

// containerText returns in words that a container is new or removed, with its image.
func containerText(path string, change preview.Change) string {
	body, text := change.To, "is new"
	if change.Op == "remove" {
		body, text = change.From, "is removed"
	}
	if whole, isMap := body.(map[string]any); isMap {
		body = whole["image"]
	}
	return fmt.Sprintf("container %s (%s) %s", containerName(path), value(body), text)
}

// containerName returns the name in the path of a container.
func containerName(path string) string {
	_, name, _ := strings.Cut(path, "ontainers[")
	return strings.TrimPrefix(strings.TrimSuffix(name, "]"), "name=")
}

// pathText returns the path of a field for a reader; within a container it begins with
// the container's name.
func pathText(path string) string {
	container, inside := containerOf(path)
	if rest := path[len(container):]; inside && rest != "" {
		return "container " + containerName(container) + " " + rest
	}
	return path
}

// imageChange returns "FROM -> TO" for two images; if only tag or digest changes, the
// repository is named once.
func imageChange(from, to string) string {
	if name := repository(from); name == repository(to) && name != from && name != to {
		return name + " " + strings.TrimLeft(from[len(name):], "@:") + " -> " + strings.TrimLeft(to[len(name):], "@:")
	}
	return from + " -> " + to
}

// repository returns an image reference without tag and digest.
func repository(reference string) string {
	at := strings.LastIndexAny(reference, "@:")
	if at < 0 || strings.Contains(reference[at:], "/") {
		return reference
	}
	name, _, _ := strings.Cut(reference[:at], "@")
	return name
}

// withoutIndex returns a path without the [...] at its end.
func withoutIndex(path string) string {
	if strings.HasSuffix(path, "]") {
		if at := strings.LastIndex(path, "["); at > 0 {
			return path[:at]
		}
	}
	return path
}

func changeText(change preview.Change) string {
	switch change.Op {
	case "add":
		return pathText(change.Path) + " " + value(change.To) + " is new"
	case "remove":
		return pathText(change.Path) + " " + value(change.From) + " is removed"
	}
	return pathText(change.Path) + " " + value(change.From) + " -> " + value(change.To)
}

// maxValue is the most bytes that are shown of a value.
const maxValue = 120

func value(v any) string {
	text, isText := v.(string)
	switch {
	case v == nil:
		return "(none)"
	case !isText:
		text = fmt.Sprint(v)
	}
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "…"
	}
	return text
}
