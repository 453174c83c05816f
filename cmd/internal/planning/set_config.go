package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// ReadSet reads the plugin config that the options name: a file of this machine
// or, in client mode, one that a server provides.
func (p SetPlanner) ReadSet(ctx context.Context, f SetOptions, progress func(string)) (*plugins.Set, error) {
	if f.Mode != ModeClient {
		return p.pluginSet(f.Config)
	}
	set, err := p.fetchedSet(ctx, f.Config, f.Credentials, progress)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", f.Config, err)
	}
	return set, nil
}

// fetchedSet reads a plugin config from a URL, or from a ConfigMap with the
// user's own permissions. Such a config cannot name files of this machine. env
// are the environment variables that the user lets it use.
func (p SetPlanner) fetchedSet(ctx context.Context, text string, env []string, progress func(string)) (*plugins.Set, error) {
	reference, err := p.configReference(text)
	if err != nil {
		return nil, err
	}
	opts, err := p.env.fetching(p.Source, progress)
	if err != nil {
		return nil, err
	}
	opts.Platform, opts.Cluster = "", targetCluster{p.Planner}
	opts.Artifacts = reference.Kind != ref.KindConfigMap // one file, which is no archive
	from := source.New(opts)
	pin, err := from.Pin(ctx, reference)
	if err != nil {
		return nil, err
	}
	content, err := from.Open(ctx, pin)
	if err != nil {
		return nil, err
	}
	read := plugins.Options{Fetched: true, Env: env, PlainHTTP: p.Source.PlainHTTP}
	if reference.Kind == ref.KindConfigMap {
		return setOfConfigMap(content.FS, read)
	}
	if !content.Plain {
		return nil, errors.New("it is an archive; a config is one YAML file")
	}
	data, err := fs.ReadFile(content.FS, filetree.PlainFile)
	if err != nil {
		return nil, err
	}
	read.File = configName(text)
	return plugins.Parse(data, read)
}

// configReference parses the reference (URL or ConfigMap) of a server's plugin config.
func (p SetPlanner) configReference(text string) (ref.Reference, error) {
	reference, err := ref.Parse(text)
	switch {
	case err != nil:
		return ref.Reference{}, err
	case strings.HasPrefix(text, "http://") && !p.Source.PlainHTTP: // its sha256 is there: the reference takes none without
		return ref.Reference{}, Usagef("plain http can be changed on its way; use https, or allow it with --plain-http")
	case reference.Kind == ref.KindConfigMap, reference.Kind == ref.KindArchive && reference.Path == "":
		return reference, nil
	}
	return ref.Reference{}, Usagef("--mode client fetches the config from the server; name https://HOST/PATH or configmap://NAMESPACE/NAME")
}

// setOfConfigMap parses the plugin config in a ConfigMap, of which files are
// the keys. It must have exactly one.
func setOfConfigMap(files fs.FS, read plugins.Options) (*plugins.Set, error) {
	data := map[string]any{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		data[path.Base(name)] = string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := preview.Canonical(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data})
	if err != nil {
		return nil, err
	}
	return plugins.Parse(body, read)
}

// configName returns a config's name for display: the file, the last part of
// the URL, or the ConfigMap.
func configName(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	return path.Base(filepath.ToSlash(text))
}

// readLock reads a lock file and checks that it is of the set. A missing file
// gives nil, or an error if it is due.
func readLock(path string, set *plugins.Set, due bool) (*plugins.Lock, error) {
	data, err := readAtMost(path, plugins.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) && !due {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lock, err := plugins.ReadLock(data)
	if err != nil {
		return nil, err
	}
	return lock, lock.CheckName(set)
}

// readAtMost reads at most the given number of bytes of a file, and one more,
// by which the caller sees that the file is larger.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	return data, withoutPath(err)
}

// withoutPath removes operation and path from a file error, for messages that name
// the file already.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// lockPath returns the path of the lock file.
func (o *SetOptions) lockPath() string {
	if o.Lock != "" {
		return o.Lock
	}
	if o.Mode == ModeClient {
		return configName(o.Config) + ".lock" // here; the config is elsewhere
	}
	return o.Config + ".lock"
}

// keepLock writes the fresh lock to the lock file, if the user asked for that.
func (o *SetOptions) keepLock(fresh *plugins.Lock) error {
	if !o.UpdateLock {
		return nil
	}
	if err := atomicfile.Write(o.lockPath(), fresh.Encode(), 0o644); err != nil {
		return fmt.Errorf("writing the lock file %s: %w", o.lockPath(), err)
	}
	return nil
}

// Status compares a config and its lock file with the current generation, for the
// platform of that or of this machine. All is unknown if the generation cannot be read.
func (o *SetOptions) Status(location string, set *plugins.Set, generations []installed.Generation) (*plugins.SyncStatus, error) {
	lock, err := readLock(o.lockPath(), set, o.Lock != "")
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w", o.lockPath(), err)
	}
	platform, now, problem := runtime.GOOS+"/"+runtime.GOARCH, plugins.InstalledFiles{}, ""
	for _, g := range generations {
		if g.Current {
			problem = g.Problem
		}
		if !g.Current || g.Receipt == nil {
			continue
		}
		if g.Receipt.Platform != "" {
			platform = g.Receipt.Platform
		}
		if now, err = installed.InstalledState(location, g.Number); err != nil {
			problem, now = cmp.Or(problem, err.Error()), plugins.InstalledFiles{}
		}
	}
	wanted, err := plugins.Compare(set, lock, now, platform)
	if problem != "" {
		wanted.Unread(problem)
	}
	if wanted.Config = o.Config; lock != nil {
		wanted.Lock = o.lockPath()
	}
	return &wanted, err
}
