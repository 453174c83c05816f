// Command image packs programs into an OCI image, without a daemon: the init container
// that installs plugins in a pod, and the embedded control plane. It prints the image's
// digest, which is the same for the same programs.
//
//	image -out DIR [-tag TAG] [-name NAME] [-label LABEL] [-certificates FILE] OS/ARCH=PROGRAM[,PROGRAM]...
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
	var l source.ImageLayout
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&l.Dir, "out", "", "new directory for the OCI image layout")
	flags.StringVar(&l.Tag, "tag", "latest", "name of the image in the layout")
	flags.StringVar(&l.Name, "name", "kubectl-operator", "name of the first program in the image; others keep theirs")
	flags.StringVar(&l.Label, "label", "", "label that names the directory of the programs")
	flags.StringVar(&l.Certificates, "certificates", "", "PEM file of certificate authorities that the program is to trust")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if l.Dir == "" || flags.NArg() == 0 {
		return errors.New("say where to with -out, and at least one OS/ARCH=PROGRAM")
	}
	for _, arg := range flags.Args() {
		platform, programs, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: want OS/ARCH=PROGRAM", arg)
		}
		all := strings.Split(programs, ",")
		l.Images = append(l.Images, source.ProgramImage{Platform: platform, Program: all[0], Others: all[1:]})
	}
	digest, err := source.WriteImageLayout(l)
	if err == nil {
		fmt.Println(digest)
	}
	return err
}
