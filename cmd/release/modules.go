package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ownModule is the path of this repository's module.
const ownModule = "github.com/kubectl-operator/kubectl-operator"

// module is a Go module that is linked into the program on some platform.
type module struct {
	path, version string
	licences      []licence
}

// licence is one licence file of a module.
type licence struct {
	file string // its name in the module
	id   string // of SPDX; empty for a notice, which has no terms itself
	text string
}

// listed is the part of the output of "go list -deps -json" that is used.
type listed struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// linked returns the modules whose packages are linked into a program, a package of the
// module at source, on any platform, sorted by path. The module graph has more modules,
// which only tests need.
func linked(source, program string, builds []build) ([]module, error) {
	dirs, roots := map[string][]string{}, map[string]string{} // of packages, and of the module
	for _, b := range builds {
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", program)
		cmd.Dir = source
		cmd.Env = append(os.Environ(), "GOOS="+b.os, "GOARCH="+b.arch, "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the packages for %s/%s: %w\n%s", b.os, b.arch, err, stderr.String())
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main { // the standard library; its licence is Go's
				continue
			}
			if p.Module.Replace != nil && p.Module.Path == ownModule { // of a module next to it
				continue
			}
			if p.Module.Replace != nil {
				return nil, fmt.Errorf("module %s is replaced: its terms are not those of what is linked", p.Module.Path)
			}
			key := p.Module.Path + "@" + p.Module.Version
			dirs[key], roots[key] = append(dirs[key], p.Dir), p.Module.Dir
		}
	}
	goRoot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("asking where Go is: %w", err)
	}
	fields := strings.Fields(string(goRoot))
	key := "std@" + fields[1]
	dirs[key], roots[key] = []string{fields[0]}, fields[0]
	var out []module
	for key, root := range roots {
		path, version, _ := strings.Cut(key, "@")
		m := module{path: path, version: version}
		if m.licences, err = licencesOf(root, dirs[key]); err != nil {
			return nil, fmt.Errorf("module %s: %w", key, err)
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// terms matches the names of files with licences or notices.
var terms = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([._-].*)?$`)

// licencesOf returns the licence files for packages: those in the root of their
// module, and in all directories from there to each package, because some
// packages were copied into a module together with their licence.
func licencesOf(root string, packages []string) ([]licence, error) {
	seen := map[string]bool{}
	for _, dir := range packages {
		for ; strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
			seen[dir] = true
		}
	}
	var out []licence
	kinds := 0
	for dir := range seen {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !terms.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") ||
				strings.HasSuffix(entry.Name(), ".docs") { // the terms of documents, which are not linked
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			file, err := filepath.Rel(root, filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			l := licence{file: filepath.ToSlash(file), text: string(text), id: identify(string(text))}
			if l.id != "" {
				kinds++
			} else if !strings.HasPrefix(strings.ToUpper(entry.Name()), "NOTICE") && !strings.HasPrefix(strings.ToUpper(entry.Name()), "PATENTS") && !strings.HasPrefix(strings.ToUpper(entry.Name()), "COPYRIGHT") {
				return nil, fmt.Errorf("the terms of %s are none that are known; read them, and add them to identify", file)
			}
			out = append(out, l)
		}
	}
	if kinds == 0 {
		return nil, errors.New("it has no licence; nothing may be released that links it")
	}
	slices.SortFunc(out, func(a, b licence) int { return strings.Compare(a.file, b.file) })
	return out, nil
}

// marks are sentences that identify licences, in the order that they are tried. They are
// compared without regard for spaces.
var marks = []struct{ id, sentence string }{
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Licensed under the Apache License, Version 2.0"},
	{"MIT-0", "MIT No Attribution"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
	{"CC0-1.0", "CC0 1.0 Universal"},
}

// identify returns the SPDX identifier of the licence in a text, empty if it is
// not known.
func identify(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	for _, m := range marks {
		if strings.Contains(strings.ToLower(words), strings.ToLower(m.sentence)) {
			return m.id
		}
	}
	return ""
}

// identifiers returns the licences of a module as one SPDX expression.
func (m module) identifiers() string {
	var out []string
	for _, l := range m.licences {
		if l.id != "" && !slices.Contains(out, l.id) {
			out = append(out, l.id)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " AND ")
}

// thirdParty returns the licences of all modules that are linked into a program, as one text.
// A text that several modules have is written once.
func thirdParty(program string, modules []module) ([]byte, error) {
	var out, texts bytes.Buffer
	fmt.Fprintf(&out, "%s is linked with these modules of others, under their own terms. The\ntexts follow the list; equal ones are written once.\n\n", program)
	number := map[string]int{}
	for _, m := range modules {
		var refs []string
		for _, l := range m.licences {
			if number[l.text] == 0 {
				number[l.text] = len(number) + 1
				fmt.Fprintf(&texts, "\n%s\n[%d]\n\n%s\n", strings.Repeat("=", 80), number[l.text], strings.TrimSpace(l.text))
			}
			refs = append(refs, fmt.Sprintf("%s [%d]", l.file, number[l.text]))
		}
		fmt.Fprintf(&out, "%s %s: %s\n    %s\n", m.path, m.version, m.identifiers(), strings.Join(refs, ", "))
	}
	_, err := texts.WriteTo(&out)
	return out.Bytes(), err
}
