package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// File is a file that an install would write.
type File struct {
	Path   string // below the location
	Mode   string // "0755"
	Data   []byte // shared with the content it is from: it must not be changed
	SHA256 string // 64 hexadecimal digits
	Origin string // reference, and path in the artifact
	Plugin string
}

// Limits on the files of a set.
const (
	maxFiles = 10_000
	maxBytes = 1 << 30
)

// Files returns the files of a set, sorted by path. Two files with the same path,
// or a file in place of a directory, are errors.
func Files(fetched []FetchedPlugin) ([]File, error) {
	var out []File
	total := 0
	for _, f := range fetched {
		files, err := f.files()
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", f.Name, err)
		}
		for _, one := range files {
			total += len(one.Data)
		}
		if out = append(out, files...); len(out) > maxFiles || total > maxBytes {
			return nil, fmt.Errorf("plugin %s: the set has more than %d files or %d MiB", f.Name, maxFiles, maxBytes>>20)
		}
	}
	slices.SortStableFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	owner := map[string]string{}
	for _, f := range out {
		if other, taken := owner[f.Path]; taken {
			return nil, fmt.Errorf("plugins %s and %s both bring %s", other, f.Plugin, f.Path)
		}
		owner[f.Path] = f.Plugin
	}
	for _, f := range out {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if other, taken := owner[dir]; taken {
				return nil, fmt.Errorf("plugin %s brings the file %s, and plugin %s needs a directory there", other, dir, f.Plugin)
			}
		}
	}
	return out, nil
}

// member is a file in an artifact, before its path in the set is decided.
type member struct {
	path string
	mode fs.FileMode
	data []byte
}

// files returns the files that one plugin brings, at their paths below the location.
func (f FetchedPlugin) files() ([]File, error) {
	members, err := f.members()
	if err != nil {
		return nil, err
	}
	if len(f.Artifact.Files) > 0 {
		if members, err = placeMembers(members, f.Artifact.Files); err != nil {
			return nil, err
		}
	}
	single := len(members) == 1 && len(f.Artifact.Files) == 0 && f.Artifact.Bin == "" && f.Output != ""
	if f.Program && !single {
		return nil, fmt.Errorf("the host runs one file, and the artifact brings %d", len(members))
	}
	var out []File
	found := false
	for _, m := range members {
		to := path.Join(f.Output, m.path)
		if single {
			to = f.Output
		}
		program := f.Program || m.path == f.Artifact.Bin && f.Artifact.Bin != ""
		m, err := f.configured(m, to)
		if err != nil {
			return nil, err
		}
		file := f.file(m, to, program)
		if err := CheckOutput(to); err != nil {
			return nil, err
		}
		out = append(out, file)
		if program && f.Command != "" {
			found = true
			file.Path = f.Command
			out = append(out, file)
		}
	}
	if f.Artifact.Bin != "" && !slices.ContainsFunc(members, func(m member) bool { return m.path == f.Artifact.Bin }) {
		return nil, fmt.Errorf("its program %s is not among its files", clip(f.Artifact.Bin))
	}
	if f.Command != "" && !found {
		return nil, errors.New("it names a command and no program")
	}
	if f.receipt != nil {
		receipt := f.file(member{krewReceipt, 0o644, f.receipt}, krewReceipt, false)
		receipt.Origin = "the manifest"
		out = append(out, receipt)
	}
	return out, nil
}

func (f FetchedPlugin) file(m member, to string, program bool) File {
	sum := sha256.Sum256(m.data)
	mode := m.mode
	switch {
	case mode == 0 && (program || isProgram(m.data)):
		mode = 0o755
	case mode == 0:
		mode = 0o644
	case program:
		mode |= 0o755
	}
	origin := f.Source.Reference
	if !f.content.Plain {
		origin += " " + m.path
	}
	return File{Path: to, Mode: ModeText(mode), Data: m.data, SHA256: hex.EncodeToString(sum[:]), Origin: origin, Plugin: f.Name}
}

// members returns the files of an artifact that its config selects by Pick; all without
// it.
func (f FetchedPlugin) members() ([]member, error) {
	var out []member
	pick := f.Artifact.Pick
	err := fs.WalkDir(f.content.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		short := name
		switch {
		case f.content.Plain:
			short = getterName(f.Source.Reference)
			if before, _, ok := strings.Cut(short, "#"); ok {
				short = before
			}
		case pick == name:
			short = path.Base(name)
		case pick != "":
			below, ok := strings.CutPrefix(name, pick+"/")
			if !ok {
				return nil
			}
			short = below
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := filetree.Bytes(f.content.FS, name)
		if err != nil {
			return err
		}
		out = append(out, member{short, filetree.ShippedMode(info), data})
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case f.content.Plain && pick != "":
		return nil, fmt.Errorf("%s is one file, which holds no %s", f.Source.Reference, clip(pick))
	case len(out) == 0:
		return nil, fmt.Errorf("%s holds no %s", f.Source.Reference, clip(pick))
	}
	return out, nil
}

// placeMembers moves the files of an artifact to the directories that the config's
// rules give. Files that no rule's pattern matches are left out, and a pattern without
// a match is an error. A matching directory includes everything below it.
func placeMembers(members []member, rules []Placement) ([]member, error) {
	var out []member
	for _, rule := range rules {
		pattern := strings.Trim(rule.From, "/")
		fitted := false
		for _, m := range members {
			head, rest, ok := matchedPrefix(pattern, m.path)
			if !ok {
				continue
			}
			fitted = true
			to := path.Join(rule.To, path.Base(head), rest)
			out = append(out, member{to, m.mode, m.data})
		}
		if !fitted {
			return nil, fmt.Errorf("no file of the artifact fits %s", clip(rule.From))
		}
	}
	return out, nil
}

// matchedPrefix splits a path into the leading part, of as many elements as the pattern
// has, and the rest; ok is false if the pattern does not match that part.
func matchedPrefix(pattern, name string) (head, rest string, ok bool) {
	parts := strings.Split(name, "/")
	depth := strings.Count(pattern, "/") + 1
	if depth > len(parts) {
		return "", "", false
	}
	head = strings.Join(parts[:depth], "/")
	ok, err := path.Match(pattern, head)
	return head, strings.Join(parts[depth:], "/"), ok && err == nil
}

// specialModes are the mode bits in addition to the permissions: setuid, setgid and sticky.
var specialModes = [...]struct {
	mode fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}

// ModeText returns a file mode as four octal digits, such as "0755".
func ModeText(m fs.FileMode) string {
	bits := uint32(m.Perm())
	for _, special := range specialModes {
		if m&special.mode != 0 {
			bits |= special.bit
		}
	}
	return fmt.Sprintf("%04o", bits)
}

// isProgram reports whether a file is an executable or script, by its first bytes.
func isProgram(data []byte) bool {
	return bytes.HasPrefix(data, []byte("#!")) || formatOf(data) != ""
}

// ParseMode parses a mode as [ModeText] writes it.
func ParseMode(text string) (fs.FileMode, error) {
	bits, err := strconv.ParseUint(text, 8, 32)
	if err != nil || len(text) != 4 {
		return 0, fmt.Errorf("%s is no mode of four octal digits", clip(text))
	}
	mode := fs.FileMode(bits) & fs.ModePerm
	for _, special := range specialModes {
		if bits&uint64(special.bit) != 0 {
			mode |= special.mode
		}
	}
	return mode, nil
}
