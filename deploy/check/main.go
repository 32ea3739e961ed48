// Command check renders every overlay and combination of deploy/k8s and checks what it gives: Pod
// Security "restricted" with the API server's own code, custom resources against their definitions,
// NetworkPolicies against reachability.json, and the conventions of conventions.go. It writes the
// rendered manifests to a folder for other tools, as YAML and as JSON, and the definitions to its
// folder crds.
//
//	check <deploy/k8s> <output folder>
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: check <deploy/k8s> <output folder>")
		os.Exit(2)
	}
	faults, err := checkAll(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, fault := range faults {
		fmt.Println("FAULT", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

func checkAll(folder, output string) ([]string, error) {
	matrix, err := readMatrix(filepath.Join(folder, "reachability.json"))
	if err != nil {
		return nil, err
	}
	targets, err := listTargets(folder)
	if err != nil {
		return nil, err
	}
	definitions, err := loadDefinitions(filepath.Join(output, "crds"))
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, target := range targets {
		found, err := checkTarget(folder, target, output, matrix, definitions)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
		for _, fault := range found {
			faults = append(faults, target+": "+fault)
		}
	}
	return faults, nil
}

// listTargets returns the folders that a platform team applies, those that it copies, and the
// combinations under tests.
func listTargets(folder string) ([]string, error) {
	var targets []string
	for _, kind := range []string{"overlays", "templates", "tests"} {
		entries, err := os.ReadDir(filepath.Join(folder, kind))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			targets = append(targets, filepath.Join(kind, entry.Name()))
		}
	}
	return targets, nil
}

func checkTarget(folder, target, output string, matrix *Matrix, definitions Definitions) ([]string, error) {
	objects, faults, err := renderTarget(folder, target)
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	set, err := newSet(objects)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(output, filepath.Base(target)+".yaml")
	if err := os.WriteFile(file, set.yaml, 0o644); err != nil {
		return nil, err
	}
	if err := writeJSON(strings.TrimSuffix(file, ".yaml")+".json", objects); err != nil {
		return nil, err
	}
	faults = checkPodSecurity(set)
	custom, customCount := checkCustomResources(objects, definitions)
	faults = append(faults, custom...)
	reached, pairs := checkReachability(set, matrix)
	faults = append(faults, reached...)
	faults = append(faults, checkConventions(set, isDeployed(folder, target))...)
	if isDeployed(folder, target) {
		faults = append(faults, checkPlaceholders(objects)...)
	}
	fmt.Printf("%-32s %3d objects, %d of them custom, %d workloads restricted, %d of %d connections open\n",
		target, set.count, customCount, len(set.workloads), pairs.open, pairs.all)
	return faults, nil
}

// isDeployed tells what is applied to clusters, and combinations that are filled like it, from
// other combinations, and from a cluster on one machine.
func isDeployed(folder, target string) bool {
	return filepath.Base(target) != "local" && (filepath.Dir(target) != "tests" || hasValues(filepath.Join(folder, target)))
}

// renderTarget renders a target, or names what keeps it from being rendered. Templates, and
// combinations with values, are filled, as overlays are by their owners.
func renderTarget(folder, target string) (objects []object, faults []string, err error) {
	if filepath.Dir(target) != "overlays" && hasValues(filepath.Join(folder, target)) {
		objects, err = renderFilled(folder, target, "testdata/values.env", "")
		return objects, nil, err
	}
	faults, err = unfilled(filepath.Join(folder, target))
	if err != nil || len(faults) > 0 {
		return nil, faults, err
	}
	objects, err = render(filepath.Join(folder, target))
	return objects, nil, err
}

// writeJSON writes the objects as one list, for tools that read no YAML.
func writeJSON(path string, objects []object) error {
	list := make([]json.RawMessage, 0, len(objects))
	for _, each := range objects {
		text, err := yaml.YAMLToJSON(each.text)
		if err != nil {
			return err
		}
		list = append(list, text)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func readMatrix(path string) (*Matrix, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var matrix Matrix
	if err := json.Unmarshal(text, &matrix); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &matrix, nil
}
