package pods

import (
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// VolumePrograms matches pods that run a program from a volume which another container
// fills from the network, or a server or disk that the pod names: what runs is decided
// there, and can be other code at the next start.
func VolumePrograms(pod map[string]any) (rules.Level, []preview.Seen) {
	var lines []preview.Seen
	containers := cloud.Containers(pod)
	for _, container := range containers {
		var programs []string
		for _, mount := range preview.Maps(container, "volumeMounts") {
			volume, at := preview.String(mount, "name"), path.Clean(preview.String(mount, "mountPath"))
			by := filledBy(pod, containers, container, volume)
			if by == "" || at == "." {
				continue
			}
			if programs == nil {
				programs = programsOf(container)
			}
			for _, program := range programs {
				if program == at || strings.HasPrefix(program, strings.TrimSuffix(at, "/")+"/") {
					lines = append(lines, words.ContainerRunsFromVolume.Of(preview.String(container, "name"), preview.EvidenceName(program), preview.EvidenceName(volume), by))
					break
				}
			}
		}
	}
	return rules.None, lines
}

// filledBy returns words for what fills a volume from the network while the pod starts or
// runs; empty if nothing is known to.
func filledBy(pod map[string]any, containers []map[string]any, user map[string]any, volume string) string {
	for _, v := range preview.Maps(pod, "volumes") {
		for _, source := range addressedSources() {
			if preview.String(v, "name") == volume && v[source.field] != nil && source.field != "csi" {
				return "which is " + source.short
			}
		}
	}
	for _, container := range containers {
		mounts := slices.ContainsFunc(preview.Maps(container, "volumeMounts"), func(mount map[string]any) bool {
			return preview.String(mount, "name") == volume && mount["readOnly"] != true
		})
		if name := preview.String(container, "name"); mounts && name != preview.String(user, "name") && fetches(container) {
			return "which container " + name + " fills from the network"
		}
	}
	return ""
}

var (
	remoteSource = lazyregexp.New(`(?i)(?:https?|git|ssh|s3|gs|oci|ftp|rsync)://|\bgit@[\w.-]+:|--repo\b|\bGIT_?SYNC_REPO=`)
	fixedSource  = lazyregexp.New(`(?i)(?:^|[^0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{64})(?:[^0-9a-f]|$)`)
	fetcherImage = lazyregexp.New(`(?i)(?:^|/)(?:git-sync|alpine-git|git|rclone|aws-cli|curl|mc|gsutil|google-cloud-cli|oras|crane|s3sync|wget)(?:[:@]|$)`)
)

// fetches reports whether a container reads from the network by its command, arguments or
// variables, or is a program that does nothing else, and names no commit or digest.
func fetches(container map[string]any) bool {
	text := strings.Join(wordsOf(container), " ")
	for _, env := range preview.Maps(container, "env") {
		text += " " + preview.String(env, "name") + "=" + preview.String(env, "value")
	}
	if fixedSource.MatchString(text) {
		return false
	}
	return remoteSource.MatchString(text) || fetcherImage.MatchString(preview.String(container, "image"))
}

func wordsOf(container map[string]any) []string {
	return append(preview.Texts(container["command"]), preview.Texts(container["args"])...)
}

var (
	interpreter = lazyregexp.New(`^(?:(?:ba|da|z|k|a|c)?sh|busybox|python[0-9.]*|uvicorn|gunicorn|flask|node|nodejs|deno|bun|npm|yarn|pnpm|ruby|bundle|rails|perl|php[0-9.]*|java|lua\w*|rscript|pwsh|make|go|tini|dumb-init|env|exec|nohup|su-exec|gosu)$`)
	scriptName  = lazyregexp.New(`(?i)\.(?:sh|bash|py|pyz|m?js|cjs|ts|rb|pl|php|jar|war|lua|r|ps1|so|wasm)$`)
	// codePaths are variables by which programs load code from directories.
	codePaths = lazyregexp.New(`^(?:PATH|CLASSPATH|NODE_PATH|RUBYLIB|PERL5LIB|GOPATH|LUA_C?PATH|AIRFLOW__CORE__(?:DAGS|PLUGINS)_FOLDER|.*_PLUGINS?_(?:DIR|PATH|FOLDER)|.*_ENTRYPOINT)$`)
)

// programsOf returns the absolute paths that a container runs code from: its program,
// scripts that it gives to an interpreter, its working directory where a program is
// named relative to it, and the directories from which programs load code.
func programsOf(container map[string]any) []string {
	var out []string
	add := func(text string) {
		if strings.HasPrefix(text, "/") {
			out = append(out, path.Clean(text))
		}
	}
	variables := map[string]string{}
	for _, env := range preview.Maps(container, "env") {
		name, value := preview.String(env, "name"), preview.String(env, "value")
		variables[name] = value
		if codePaths.MatchString(name) || slices.Contains(loaders, name) {
			for _, dir := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' || r == '=' }) {
				add(dir)
			}
		}
	}
	commands := [][]string{wordsOf(container)}
	for _, handler := range Handlers(container) {
		commands = append(commands, preview.Texts(preview.Value(handler, "exec", "command")))
	}
	for _, words := range commands {
		if len(words) == 0 {
			continue
		}
		words = strings.FieldsFunc(withVariables(strings.Join(words, " "), variables), func(r rune) bool { return strings.ContainsRune(" \t\n;&|\"'()`<>", r) })
		interpreted := len(words) > 0 && interpreter.MatchString(strings.ToLower(path.Base(words[0])))
		for i, word := range words {
			if i == 0 || interpreted && !strings.HasPrefix(word, "-") || scriptName.MatchString(word) {
				add(word)
			}
		}
		if interpreted || len(words) > 0 && strings.HasPrefix(words[0], ".") {
			add(preview.String(container, "workingDir"))
		}
	}
	return out
}

// withVariables puts the values of variables in, in the spellings of the kubelet and of
// shells.
func withVariables(text string, variables map[string]string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var pairs []string
	for _, name := range slices.Backward(sortedKeys(variables)) { // longer names before their beginnings
		pairs = append(pairs, "$("+name+")", variables[name], "${"+name+"}", variables[name], "$"+name, variables[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
