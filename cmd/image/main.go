// Command image packs the program into an OCI image, without a daemon: the init
// container that installs plugins in a pod. It prints the image's digest, which
// is the same for the same programs.
//
//	image -out DIR [-tag TAG] [-certificates FILE] OS/ARCH=PROGRAM...
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	l := source.ImageLayout{Name: "kubectl-operator"}
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&l.Dir, "out", "", "new directory for the OCI image layout")
	flags.StringVar(&l.Tag, "tag", "latest", "name of the image in the layout")
	flags.StringVar(&l.Certificates, "certificates", "", "PEM file of certificate authorities that the program is to trust")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if l.Dir == "" || flags.NArg() == 0 {
		return errors.New("say where to with -out, and at least one OS/ARCH=PROGRAM")
	}
	for _, arg := range flags.Args() {
		platform, program, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: want OS/ARCH=PROGRAM", arg)
		}
		l.Images = append(l.Images, source.ProgramImage{Platform: platform, Program: program})
	}
	digest, err := source.WriteImageLayout(l)
	if err == nil {
		fmt.Println(digest)
	}
	return err
}
