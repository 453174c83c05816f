package plugins

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"strings"
)

// buildOf returns the build information that the Go toolchain put into a program, nil
// for other files. Nothing proves that it is true.
func buildOf(data []byte) (info *debug.BuildInfo) {
	defer func() {
		if recover() != nil { // of a reader that is not made for hostile files
			info = nil
		}
	}()
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return info
}

// buildText returns the build information as one line: Go version, module and version,
// commit, and the number of modules that it depends on; empty for nil.
func buildText(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	parts := []string{info.GoVersion}
	if module := strings.TrimSpace(info.Main.Path + " " + info.Main.Version); module != "" {
		parts = append(parts, module)
	}
	if revision := revisionOf(info); revision != "" {
		parts = append(parts, "revision "+revision)
	}
	if n := len(info.Deps); n > 0 {
		parts = append(parts, fmt.Sprintf("%d modules", n))
	}
	return clip(strings.Join(parts, ", "))
}

// revisionOf returns the commit that a program was built from, with " with changes" if
// the working tree was not clean; empty if the build did not record it.
func revisionOf(info *debug.BuildInfo) string {
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = " with changes"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}

// maxModules is how many of a program's dependencies are compared (5000); others are
// ignored.
const maxModules = 5000

// buildValues returns the build information as a map that [diff.Values] compares.
func buildValues(info *debug.BuildInfo) map[string]any {
	build, modules := map[string]any{}, map[string]any{}
	for _, dep := range info.Deps[:min(len(info.Deps), maxModules)] {
		modules[clip(dep.Path)] = moduleText(dep)
	}
	for key, text := range map[string]string{
		"go": info.GoVersion, "module": info.Main.Path, "version": info.Main.Version, "revision": revisionOf(info),
	} {
		if text != "" {
			build[key] = clip(text)
		}
	}
	if len(modules) > 0 {
		build["dependencies"] = modules
	}
	return map[string]any{"build": build}
}

// moduleText returns the version of a dependency, followed by the module that replaces
// it if go.mod does so.
func moduleText(m *debug.Module) string {
	text := m.Version
	if r := m.Replace; r != nil {
		text += " => " + strings.TrimSpace(r.Path+" "+r.Version)
	}
	return clip(text)
}
