// Command release makes the files of a release from built programs: an archive for each
// platform, packages of Linux distributions, a software bill of materials, checksums, and
// the manifests of krew and Homebrew. The same programs and documents are the same files,
// byte for byte: every time is the commit's.
//
//	release -version v1.2.3 -commit HEX -time UNIX -docs DIR -out DIR [-packager PROGRAM] OS/ARCH=PROGRAM...
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// name is the name of the program, and begins the names of archives and packages.
const name = "kubectl-operator"

// home is the URL of the repository, below which the releases are.
const home = "https://github.com/kubectl-operator/kubectl-operator"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is a release to be made: its version, its inputs, and the programs to
// publish.
type release struct {
	version  string // v1.2.3
	commit   string
	time     time.Time
	source   string // directory of the module
	docs     string // directory of man pages and completions
	out      string
	licences string // file for the licences alone; empty for a release
	packager string // program that makes packages of Linux distributions; empty for none
	builds   []build
	notices  []byte // THIRD_PARTY
	terms    []byte // LICENSE
	readme   []byte
}

// build is the program for one platform, and its archive.
type build struct {
	os, arch string
	program  string // file
	archive  string // name of its archive
	sum      string // SHA-256 of its archive, in hexadecimal digits
}

func run(args []string) error {
	r, err := parse(args)
	if err != nil {
		return err
	}
	if r.licences != "" {
		return r.writeThirdParty()
	}
	modules, err := linked(r.source, "./cmd/"+name, r.builds)
	if err != nil {
		return err
	}
	return r.write(modules)
}

// writeThirdParty writes the licences alone, of a program that is no part of a release:
// its own module at source.
func (r *release) writeThirdParty() error {
	modules, err := linked(r.source, ".", r.builds)
	if err != nil {
		return err
	}
	text, err := thirdParty(filepath.Base(r.builds[0].program), modules)
	if err != nil {
		return err
	}
	return os.WriteFile(r.licences, text, 0o644)
}

// write writes all files of the release. The checksums come last, because they
// are of all other files.
func (r *release) write(modules []module) error {
	var err error
	if r.notices, err = thirdParty(name, modules); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for i := range r.builds {
		if err := r.writeArchive(&r.builds[i]); err != nil {
			return fmt.Errorf("making the archive for %s/%s: %w", r.builds[i].os, r.builds[i].arch, err)
		}
	}
	if err := errors.Join(r.writePackages(), r.writeBill(modules), r.writeManifests()); err != nil {
		return err
	}
	return r.writeChecksums()
}

var (
	versionForm = regexp.MustCompile(`^v?[0-9A-Za-z][0-9A-Za-z.+-]*$`)
	commitForm  = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

func parse(args []string) (*release, error) {
	r := &release{}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "version of the release, such as v1.2.3")
	flags.StringVar(&r.commit, "commit", "", "commit that it was built from")
	seconds := flags.Int64("time", 0, "time of all files, in seconds since 1970: that of the commit")
	flags.StringVar(&r.source, "source", ".", "directory of the module")
	flags.StringVar(&r.docs, "docs", "", "directory of man/ and completions/")
	flags.StringVar(&r.out, "out", "", "directory for the files")
	flags.StringVar(&r.packager, "packager", "", "program that makes deb, rpm and apk packages")
	flags.StringVar(&r.licences, "third-party", "", "write the licences of what is linked to this file, and nothing else")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if r.licences != "" {
		if flags.NArg() == 0 {
			return nil, errors.New("say which program the licences are of, as OS/ARCH=PROGRAM")
		}
		return r, r.readBuilds(flags.Args())
	}
	r.time = time.Unix(*seconds, 0).UTC()
	switch {
	case r.docs == "" || r.out == "" || flags.NArg() == 0:
		return nil, errors.New("say which documents and where to with -docs and -out, and at least one OS/ARCH=PROGRAM")
	case !versionForm.MatchString(r.version):
		return nil, fmt.Errorf("-version %s: want a version such as v1.2.3", r.version)
	case !commitForm.MatchString(r.commit):
		return nil, fmt.Errorf("-commit %s: want 40 hexadecimal digits", r.commit)
	case *seconds <= 0:
		return nil, errors.New("say the time of the commit with -time")
	}
	if err := r.readBuilds(flags.Args()); err != nil {
		return nil, err
	}
	var err error
	if r.terms, err = os.ReadFile(filepath.Join(r.source, "LICENSE")); err != nil {
		return nil, err
	}
	r.readme, err = os.ReadFile(filepath.Join(r.source, "README.md"))
	return r, err
}

// readBuilds reads the programs, as OS/ARCH=PROGRAM.
func (r *release) readBuilds(args []string) error {
	for _, arg := range args {
		platform, program, ok := strings.Cut(arg, "=")
		system, arch, both := strings.Cut(platform, "/")
		if !ok || !both {
			return fmt.Errorf("%q: want OS/ARCH=PROGRAM", arg)
		}
		suffix := ".tar.gz"
		if system == "windows" {
			suffix = ".zip"
		}
		r.builds = append(r.builds, build{os: system, arch: arch, program: program, archive: name + "_" + r.number() + "_" + system + "_" + arch + suffix})
	}
	return nil
}

// number returns the version without the leading v, as archives and packages have it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }
