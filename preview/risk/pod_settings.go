package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func foreignTokens(pod map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, audience := range cloud.Audiences(pod) {
		lines = append(lines, words.Audience.Of(audience))
	}
	return None, lines
}

// secretEnv matches containers with secrets in environment variables: all keys of a
// Secret, or a literal value under a name such as PASSWORD. The evidence has the names,
// never the values.
func secretEnv(_, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, from := range preview.Maps(container, "envFrom") {
		if name := preview.String(from, "secretRef", "name"); name != "" {
			lines = append(lines, words.EveryKeyOfSecret.Of(name))
		}
	}
	for _, env := range preview.Maps(container, "env") {
		name := preview.String(env, "name")
		if preview.String(env, "value") != "" && preview.SensitiveName(name) && !isSwitch(preview.String(env, "value")) {
			lines = append(lines, words.ALiteralValueOf.Of(name))
		}
	}
	return None, lines
}

// isSwitch reports whether a value is a boolean or 0 or 1, and so not a secret.
func isSwitch(value string) bool {
	return slices.Contains([]string{"true", "false", "0", "1"}, strings.ToLower(value))
}

func isControlPlane(key string) bool {
	return key == "node-role.kubernetes.io/control-plane" || key == "node-role.kubernetes.io/master"
}

// preempts matches pods and PodGroups with the priority class system-node-critical or
// system-cluster-critical.
func preempts(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	classes := []string{preview.String(pod, "priorityClassName")}
	if o.Ref().Group() == "scheduling.k8s.io" {
		classes = pods.GroupPriorities(o.Planned)
	}
	var facts []preview.Seen
	for _, class := range classes {
		if class == "system-node-critical" || class == "system-cluster-critical" {
			facts = append(facts, words.Name.Of(class))
		}
	}
	return None, facts
}

func noLimits(pod, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	if len(preview.Map(container, "resources", "limits"))+len(preview.Map(container, "resources", "requests"))+len(preview.Map(pod, "resources")) == 0 {
		lines = append(lines, words.NoRequestsOrLimits.Of())
	}
	if container["livenessProbe"] == nil && container["readinessProbe"] == nil {
		lines = append(lines, words.NoProbes.Of())
	}
	return None, lines
}

func imageRules() []entry {
	return []entry{
		{Rule: rules.ImageByTag, object: containerMatch(imageByTag)},
		{Rule: rules.ImageMoved, object: imageMoved},
		{Rule: rules.ImagePullAlways, object: containerMatch(pullAlways)},
		{Rule: rules.ImageNotListed, object: facts(imageNotListed)},
		{Rule: rules.ImageVariableByTag, object: containerMatch(relatedByTag)},
		{Rule: rules.PodSharedToken, object: podMatch(tokenForAll)},
	}
}

func imageByTag(_, container map[string]any) (Level, []preview.Seen) {
	image := preview.String(container, "image")
	tag, ok := pods.Digested(image)
	switch {
	case image == "" || ok:
		return None, nil
	case tag == "" || tag == "latest":
		return High, []preview.Seen{words.Name.Of(preview.EvidenceName(image))}
	}
	return Medium, []preview.Seen{words.Name.Of(preview.EvidenceName(image))}
}

func pullAlways(_, container map[string]any) (Level, []preview.Seen) {
	image := preview.String(container, "image")
	if _, ok := pods.Digested(image); ok || image == "" || container["imagePullPolicy"] != "Always" {
		return None, nil
	}
	return None, []preview.Seen{words.Name.Of(preview.EvidenceName(image))}
}

func relatedByTag(_, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, env := range preview.Maps(container, "env") {
		value := preview.String(env, "value")
		if !strings.HasPrefix(preview.String(env, "name"), "RELATED_IMAGE_") || value == "" {
			continue
		}
		if _, ok := pods.Digested(value); !ok {
			lines = append(lines, words.Name.Of(value))
		}
	}
	return None, lines
}

func imageNotListed(c *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	if c.related == nil || pod == nil {
		return None, nil
	}
	var lines []preview.Seen
	for image := range preview.PodImages(pod) {
		if !c.related[image] {
			lines = append(lines, words.Name.Of(image))
		}
	}
	return None, lines
}

func tokenForAll(pod map[string]any) (Level, []preview.Seen) {
	if pod["automountServiceAccountToken"] == false || len(preview.Maps(pod, "containers")) < 2 {
		return None, nil
	}
	return None, []preview.Seen{words.SeveralContainersShareTheToken.Of()}
}

// imageMoved matches pods with an image, named by tag and digest, whose digest differs
// from the digest of the live object's image with the same tag.
func imageMoved(c *scan, o *preview.Object) (Level, []preview.Piece) {
	pod, _ := preview.PodTemplate(o.Planned)
	was, _ := preview.PodTemplate(o.LiveBody)
	if pod == nil || was == nil || !c.plan.Member(o) {
		return None, nil
	}
	before := map[string]string{}
	for image := range preview.PodImages(was) {
		if name, digest, ok := strings.Cut(image, "@"); ok {
			before[name] = digest
		}
	}
	var evidence []preview.Piece
	for image := range preview.PodImages(pod) {
		name, digest, ok := strings.Cut(image, "@")
		tagged := strings.LastIndexByte(name, ':') > strings.LastIndexByte(name, '/')
		if old := before[name]; ok && tagged && old != "" && old != digest {
			evidence = append(evidence, preview.Piece{Item: &preview.Item{Name: image}, Seen: seenAs(words.ImageWas.Of(name, old, digest))})
		}
	}
	return None, evidence
}
