package plugins

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// The formats of executables.
const (
	formatELF   = "ELF"
	formatMachO = "Mach-O"
	formatPE    = "PE"
)

// formatOf returns the format of an executable by its first bytes, "" for other
// files.
func formatOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		return formatELF
	case bytes.HasPrefix(data, []byte("\xfe\xed\xfa\xce")), bytes.HasPrefix(data, []byte("\xfe\xed\xfa\xcf")),
		bytes.HasPrefix(data, []byte("\xce\xfa\xed\xfe")), bytes.HasPrefix(data, []byte("\xcf\xfa\xed\xfe")),
		bytes.HasPrefix(data, []byte("\xca\xfe\xba\xbe")) && len(data) > 7 && data[7] < 20: // else a Java class
		return formatMachO
	case bytes.HasPrefix(data, []byte("MZ")):
		return formatPE
	}
	return ""
}

// Contents says what is known of a file from its bytes alone.
type Contents struct {
	// Platforms an executable runs on, as OS/ARCH; empty for anything else, and for an
	// executable that cannot be read; Damaged says why.
	Platforms []string
	Damaged   string
	Text      string // for a person: "ELF linux/amd64; Go 1.26, example.com/neo v1.2.3"
}

// Inspect describes the bytes of a file, without running it.
func Inspect(data []byte) Contents {
	format := formatOf(data)
	if format == "" {
		return Contents{Text: describeData(data)}
	}
	platforms, err := executable(format, data)
	if err != nil {
		return Contents{Text: format, Damaged: format + " header that cannot be read"}
	}
	out := Contents{Platforms: platforms, Text: format + " " + strings.Join(platforms, ", ")}
	if built := buildText(buildOf(data)); built != "" {
		out.Text += "; " + built
	}
	return out
}

var errHeader = errors.New("damaged")

// executable returns the platforms that an executable of a format is for, as OS/ARCH;
// several for a universal Mach-O binary. A panic of the standard library's readers on
// hostile files is an error.
func executable(format string, data []byte) (platforms []string, err error) {
	defer func() {
		if recover() != nil {
			platforms, err = nil, errHeader
		}
	}()
	r := bytes.NewReader(data)
	switch format {
	case formatELF:
		f, err := elf.NewFile(r)
		if err != nil {
			return nil, errHeader
		}
		return []string{elfSystem(f) + "/" + elfArch(f)}, nil
	case formatPE:
		f, err := pe.NewFile(r)
		if err != nil {
			return nil, errHeader
		}
		return []string{"windows/" + peArch(f.Machine)}, nil
	}
	if fat, err := macho.NewFatFile(r); err == nil {
		for _, arch := range fat.Arches {
			platforms = append(platforms, "darwin/"+machoArch(arch.Cpu))
		}
		slices.Sort(platforms)
		return slices.Compact(platforms), nil
	}
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, errHeader
	}
	return []string{"darwin/" + machoArch(f.Cpu)}, nil
}

// elfSystem returns the operating system that an ELF file's header names, else "linux".
func elfSystem(f *elf.File) string {
	switch f.OSABI {
	case elf.ELFOSABI_FREEBSD:
		return "freebsd"
	case elf.ELFOSABI_NETBSD:
		return "netbsd"
	case elf.ELFOSABI_OPENBSD:
		return "openbsd"
	case elf.ELFOSABI_SOLARIS:
		return "solaris"
	}
	return "linux"
}

func elfArch(f *elf.File) string {
	little := f.Data == elf.ELFDATA2LSB
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_386:
		return "386"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_S390:
		return "s390x"
	case elf.EM_RISCV:
		return "riscv64"
	case elf.EM_LOONGARCH:
		return "loong64"
	case elf.EM_PPC64:
		if little {
			return "ppc64le"
		}
		return "ppc64"
	}
	return "unknown"
}

func peArch(machine uint16) string {
	switch machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		return "amd64"
	case pe.IMAGE_FILE_MACHINE_ARM64:
		return "arm64"
	case pe.IMAGE_FILE_MACHINE_I386:
		return "386"
	}
	return "unknown"
}

func machoArch(cpu macho.Cpu) string {
	switch cpu {
	case macho.CpuAmd64:
		return "amd64"
	case macho.CpuArm64:
		return "arm64"
	case macho.Cpu386:
		return "386"
	}
	return "unknown"
}

// describeData describes a file that is not an executable: a script and its
// interpreter, "text" or "data".
func describeData(data []byte) string {
	if first, _, _ := bytes.Cut(data, []byte("\n")); bytes.HasPrefix(first, []byte("#!")) {
		return "script for " + clip(strings.TrimSpace(string(first[2:])))
	}
	head := data[:min(len(data), 8192)]
	if bytes.IndexByte(head, 0) < 0 && utf8.Valid(bytes.TrimRightFunc(head, func(r rune) bool { return r == utf8.RuneError })) {
		return "text"
	}
	return "data"
}
