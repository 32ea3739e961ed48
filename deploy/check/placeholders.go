package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// valuesFile is where an overlay says what its deployment is.
const valuesFile = "deployment.env"

var (
	valueLine   = regexp.MustCompile(`^([A-Z_]+)=(.*)$`)
	commentLine = regexp.MustCompile(`^#\s*([A-Z_]+)=`)
	// Files in a ConfigMap have comments, and a placeholder in a comment is no fault.
	comment = regexp.MustCompile(`(?m)^\s*#.*$`)
	// Names that RFC 2606 keeps for documentation, digests of zeros, an ellipsis, and proxies at
	// addresses that RFC 5737 keeps for documentation.
	example = regexp.MustCompile(`\bexample\.(?:org|com|net)\b|\.example\b|sha256:0{64}|…|` +
		`TRUSTED_PROXIES: .*\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.[0-9]+`)
)

// hasValues tells the folders that say what their deployment is.
func hasValues(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, valuesFile))
	return err == nil
}

// unfilled names the values of an overlay that are still comments, or empty.
func unfilled(folder string) ([]string, error) {
	file, err := os.Open(filepath.Join(folder, valuesFile))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	filled := map[string]bool{}
	var wanted, faults []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if found := valueLine.FindStringSubmatch(lines.Text()); found != nil {
			wanted = append(wanted, found[1])
			filled[found[1]] = strings.TrimSpace(found[2]) != ""
		} else if found := commentLine.FindStringSubmatch(lines.Text()); found != nil {
			wanted = append(wanted, found[1])
		}
	}
	reported := map[string]bool{}
	for _, name := range wanted {
		if !filled[name] && !reported[name] {
			faults = append(faults, fmt.Sprintf("%s is not filled in %s", name, valuesFile))
			reported[name] = true
		}
	}
	return faults, nil
}

// checkPlaceholders finds what was written for an example, wherever it stands, line by line.
func checkPlaceholders(objects []object) []string {
	var faults []string
	for _, each := range objects {
		for _, line := range strings.Split(string(comment.ReplaceAll(each.text, nil)), "\n") {
			if example.MatchString(line) {
				faults = append(faults, fmt.Sprintf("%s/%s has the placeholder %s", each.kind, each.name, strings.TrimSpace(line)))
			}
		}
	}
	return faults
}

// renderFilled renders a target as if its values had been filled with those of a file, but for the
// one that `without` names.
func renderFilled(folder, target, values, without string) ([]object, error) {
	disk := filesys.MakeFsOnDisk()
	memory := filesys.MakeFsInMemory()
	err := disk.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := disk.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return memory.WriteFile(filepath.Join("/k8s", relative), text)
	})
	if err != nil {
		return nil, err
	}
	root := filepath.Join("/k8s", target)
	text, err := memory.ReadFile(filepath.Join(root, valuesFile))
	if err != nil {
		return nil, err
	}
	filling, err := os.ReadFile(values)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(filling), "\n") {
		if name, _, isValue := strings.Cut(line, "="); isValue && name != without {
			text = append(text, ("\n" + line)...)
		}
	}
	if err := memory.WriteFile(filepath.Join(root, valuesFile), text); err != nil {
		return nil, err
	}
	return renderFrom(memory, root)
}
