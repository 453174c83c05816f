package cloud

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Document is a policy or role definition for a cloud administrator. Its texts come
// from packages and are not escaped.
type Document struct {
	Provider, Origin string
	Title            string   // what the document is, in our words
	Certainty        string   // how sure it is; empty where the notes say it of each
	Notes            []string // one line each: how to use it, and what was left out
	// Body is the input for the provider's tool: the JSON of an AWS policy or an Azure
	// role definition, or the YAML of a Google Cloud role or of a list of role names. It
	// is nil if nothing can be derived.
	Body any
	YAML bool
}

// Policies returns documents that grant the planned cloud access, for a cloud
// administrator, sorted by provider and origin. A document never allows more than was
// requested: permissions that the provider would not accept are left out and noted. If
// that is a Deny, the whole document is left out.
func Policies(c preview.Cloud) []Document {
	var out []Document
	names := map[string]bool{}
	for _, group := range byRequest(c.Permissions) {
		g := &permissionRequest{provider: group[0].Provider, origin: group[0].Origin, name: uniqueName(group[0].Origin, names)}
		made := g.documents(group)
		for i := range made {
			made[i].Certainty = cmp.Or(group[0].Certainty, certaintyOf(group[0].Origin))
		}
		out = append(out, made...)
	}
	for _, provider := range declaredProviders(c) {
		d := Document{Provider: provider, Title: "shows without actions: nothing can be derived from it"}
		for _, declared := range c.Declared {
			if declared.Provider == provider {
				d.Notes = append(d.Notes, cmp.Or(declared.Certainty, certaintyOf(declared.Origin))+": "+declared.Origin)
			}
		}
		out = append(out, d)
	}
	return out
}

// byRequest returns the permissions in groups of one provider and origin, sorted.
// Permissions that an upgrade removes are left out.
func byRequest(list []preview.CloudPermission) [][]preview.CloudPermission {
	kept := slices.DeleteFunc(slices.Clone(list), func(p preview.CloudPermission) bool { return p.Change == preview.GrantRemoved })
	slices.SortStableFunc(kept, compare)
	var out [][]preview.CloudPermission
	for i, p := range kept {
		if i == 0 || p.Provider != kept[i-1].Provider || p.Origin != kept[i-1].Origin {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

func declaredProviders(c preview.Cloud) []string {
	var out []string
	for _, d := range c.Declared {
		out = append(out, d.Provider)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// permissionRequest is the permissions that one origin requests from one provider.
type permissionRequest struct {
	provider, origin, name string
	notes                  []string // for all documents of the request
}

func (r *permissionRequest) documents(list []preview.CloudPermission) []Document {
	r.kind()
	var granted []preview.CloudPermission
	for _, p := range list {
		if IsIdentity(p) {
			r.notes = append(r.notes, "acts as "+strings.Join(p.Roles, ", ")+": what that may do is decided in the cloud")
			continue
		}
		granted = append(granted, p)
	}
	if len(granted) == 0 {
		return []Document{r.document("an identity; nothing can be derived from it", nil)}
	}
	switch r.provider {
	case AWS:
		return r.aws(granted)
	case GCP:
		return r.gcp(granted)
	case Azure:
		return r.azure(granted)
	}
	return []Document{r.plainText(granted)}
}

// kind adds a note about who creates the identity or grant in the cloud, by the kind of
// the origin.
func (r *permissionRequest) kind() {
	switch {
	case r.origin == Attached || strings.HasSuffix(r.origin, " in "+Attached):
		r.notes = append(r.notes, "what the publisher asks for, in the policy that the reviewer attached")
	case strings.HasPrefix(r.origin, credential+"/") && strings.Contains(r.origin, " in "), isText(r.origin):
		r.notes = append(r.notes, "an example or template: what the operator asks for when it runs may differ")
	case strings.HasPrefix(r.origin, credential+"/") && (r.provider == AWS || r.provider == GCP):
		r.notes = append(r.notes, "the cloud-credential-operator makes this itself in mint mode; in passthrough mode it hands out the cluster's own, wider credential")
	case strings.HasPrefix(r.origin, credential+"/"):
		r.notes = append(r.notes, "the cloud-credential-operator in passthrough mode hands out the cluster's own, wider credential")
	case inDocument(r.origin):
		r.notes = append(r.notes, "what the publisher writes about the package shows this: what it needs when it runs may differ")
	case !strings.HasPrefix(r.origin, "ServiceAccount/"):
		r.notes = append(r.notes, "a controller makes this in the cloud when the object is applied; it is here to be reviewed")
	}
}

// isText reports whether an origin is an example of a package, or a text in an object: no
// controller makes what it states.
func isText(origin string) bool {
	if strings.HasSuffix(origin, " in "+Examples) {
		return true
	}
	_, place, inside := strings.Cut(origin, " in ")
	if !inside {
		place = origin
	}
	return strings.HasPrefix(place, "ConfigMap/") || strings.HasPrefix(place, "Secret/")
}

func (r *permissionRequest) document(title string, body any) Document {
	return Document{Provider: r.provider, Origin: r.origin, Title: title, Notes: slices.Clone(r.notes), Body: body}
}

// plainText returns a document with the permissions in words, for providers without a
// file format.
func (r *permissionRequest) plainText(list []preview.CloudPermission) Document {
	d := r.document("to be granted with the provider's own tools", nil)
	for _, p := range list {
		if len(p.Actions) == 1 && p.Actions[0] == all {
			d.Notes = append(d.Notes, "the request names no limit: create a dedicated credential with only the permissions that the operator needs")
			continue
		}
		text := p.Effect
		for _, part := range []struct {
			word string
			list []string
		}{{"actions ", p.Actions}, {"roles ", p.Roles}, {"where ", p.Resources}} {
			if len(part.list) > 0 {
				text += " " + part.word + strings.Join(part.list, ", ")
			}
		}
		d.Notes = append(d.Notes, text)
	}
	return d
}

var notInNames = lazyregexp.New(`[^A-Za-z0-9]+`)

const maxName = 56 // without a number; the lowest limit is 64, for the id of a Google Cloud role

// uniqueName returns a name for an origin that is valid for every provider and not in
// taken, and adds it to taken.
func uniqueName(origin string, taken map[string]bool) string {
	name := strings.ToLower(strings.Trim(notInNames.ReplaceAllString(origin, "-"), "-"))
	if name == "" || len(name) > maxName || taken[name] {
		_, digest, _ := strings.Cut(preview.HashBytes([]byte(origin)), ":")
		name = strings.Trim(name[:min(len(name), maxName-9)]+"-"+digest[:8], "-")
	}
	taken[name] = true
	return name
}

// numbered returns the name of the n-th of several documents, counted from 0; the first
// has no number.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(n+1)
}

// placeholders matches template markers, such as ${NAME}, that are to be filled in.
// IAM's own variables, such as ${aws:username}, have a colon and do not match.
var placeholders = lazyregexp.New(`\$\{[^}:]*\}|\$\([^)]*\)|\{\{[^}]*\}\}|<[^<>]+>`)

func placeholderNotes(list ...[]string) []string {
	var found []string
	for _, texts := range list {
		for _, text := range texts {
			found = append(found, placeholders.FindAllString(text, -1)...)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 0 {
		return nil
	}
	return []string{"fill in before use: " + strings.Join(found, ", ")}
}

// partition returns the items that a pattern matches (good), and the others (bad).
func partition(list []string, pattern *lazyregexp.Regexp) (good, bad []string) {
	for _, item := range list {
		if pattern.MatchString(item) {
			good = append(good, item)
		} else {
			bad = append(bad, item)
		}
	}
	return good, bad
}

func omittedNote(what string, list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return []string{"left out, as the provider would not accept it: " + what + " " + strings.Join(list, ", ")}
}
