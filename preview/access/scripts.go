package access

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// script is a ConfigMap with code that pods of an account run. A subject that may write
// the ConfigMap can act as that account.
type script struct{ configMap, account string }

// changeScripts returns the step from the right to write ConfigMaps to the accounts
// whose pods run their content.
func changeScripts() step {
	return step{
		name: "scripts", rights: []right{rightTo("", "configmaps", "update", "patch")}, gain: gainScripts,
		key: words.StepChangesScript,
	}
}

// scriptsNamed adds the accounts of pods that run the content of ConfigMaps with these
// names, nil for any, in a namespace or in all.
func (s *search) scriptsNamed(namespace string, names []string, of step, by []premise, depth int) {
	for in, scripts := range s.scripts {
		if namespace != "" && in != namespace {
			continue
		}
		for _, one := range scripts {
			if names == nil || slices.Contains(names, one.configMap) {
				s.accountNamed(in, one.account, &preview.Step{Key: of.key.Name, Kind: "ConfigMap", Name: one.configMap}, by, depth)
			}
		}
	}
}

// scriptMaps returns the names of the ConfigMaps whose content a pod runs: by envFrom,
// which can set what interpreters load; by variables in a command; and by files that a
// command runs or that are executable.
func scriptMaps(pod map[string]any) []string {
	var out []string
	mounted := configMapVolumes(pod)
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range preview.Maps(pod, list) {
			out = append(out, containerScripts(c, mounted)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(slices.DeleteFunc(out, func(name string) bool { return name == "" }))
}

// containerScripts returns the names of the ConfigMaps whose content a container runs.
func containerScripts(c map[string]any, mounted map[string][]configMapSource) []string {
	var out []string
	commands := commandsOf(c)
	for _, from := range preview.Maps(c, "envFrom") {
		out = append(out, preview.String(from, "configMapRef", "name"))
	}
	for _, variable := range preview.Maps(c, "env") {
		if strings.Contains(strings.Join(slices.Concat(commands...), " "), "$("+preview.String(variable, "name")+")") {
			out = append(out, preview.String(variable, "valueFrom", "configMapKeyRef", "name"))
		}
	}
	for _, mount := range preview.Maps(c, "volumeMounts") {
		path := strings.TrimRight(preview.String(mount, "mountPath"), "/")
		runs := path != "" && slices.ContainsFunc(commands, func(command []string) bool { return runsFile(command, path) })
		for _, source := range mounted[preview.String(mount, "name")] {
			if runs || source.executable {
				out = append(out, source.name)
			}
		}
	}
	return out
}

// configMapSource is a ConfigMap in a volume.
type configMapSource struct {
	name       string
	executable bool // its files may be executed
}

// configMapVolumes returns the ConfigMaps of a pod's volumes, by the name of the
// volume.
func configMapVolumes(pod map[string]any) map[string][]configMapSource {
	out := map[string][]configMapSource{}
	for _, volume := range preview.Maps(pod, "volumes") {
		name := preview.String(volume, "name")
		if source := preview.Map(volume, "configMap"); source != nil {
			out[name] = append(out[name], configMapSource{preview.String(source, "name"), executable(source, source)})
		}
		projected := preview.Map(volume, "projected")
		for _, part := range preview.Maps(projected, "sources") {
			if source := preview.Map(part, "configMap"); source != nil {
				out[name] = append(out[name], configMapSource{preview.String(source, "name"), executable(projected, source)})
			}
		}
	}
	return out
}

// executable reports whether the mode of a volume, or of one of its files, permits to
// execute files.
func executable(volume, source map[string]any) bool {
	modes := []any{volume["defaultMode"]}
	for _, item := range preview.Maps(source, "items") {
		modes = append(modes, item["mode"])
	}
	return slices.ContainsFunc(modes, func(mode any) bool {
		switch n := mode.(type) {
		case int64:
			return n&0o111 != 0
		case float64:
			return int64(n)&0o111 != 0
		}
		return false
	})
}

// commandsOf returns the commands of a container: command with args, and the commands of
// its probes and hooks.
func commandsOf(c map[string]any) [][]string {
	texts := func(of map[string]any) []string { return preview.Texts(preview.List(of, "command")) }
	out := [][]string{append(texts(c), preview.Texts(preview.List(c, "args"))...)}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		out = append(out, texts(preview.Map(c, probe, "exec")))
	}
	for _, hook := range []string{"postStart", "preStop"} {
		out = append(out, texts(preview.Map(c, "lifecycle", hook, "exec")))
	}
	return out
}

// interpreters returns the names of programs that run a file that is named in their
// arguments.
func interpreters() []string {
	return []string{"sh", "bash", "ash", "dash", "zsh", "ksh", "busybox", "env", "python", "perl", "ruby", "node", "lua", "php", "java", "tini", "dumb-init"}
}

// runsFile reports whether a command runs a file at a path or below it: the file is the
// program, an argument of an interpreter, or named like a script. A path that is passed
// to any other program counts as its configuration.
func runsFile(command []string, path string) bool {
	for i, text := range command {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|'\"`()<>$={}", r) }) {
			if word != path && !strings.HasPrefix(word, path+"/") {
				continue
			}
			first := strings.TrimRight(command[0][strings.LastIndex(command[0], "/")+1:], "0123456789.")
			if i == 0 || slices.Contains(interpreters(), first) || slices.Contains([]string{".sh", ".bash", ".py", ".pl", ".rb", ".js", ".lua", ".php", ".jar"}, filepath.Ext(word)) {
				return true
			}
		}
	}
	return false
}
