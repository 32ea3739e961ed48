package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// A definitionSource is a Go module whose files hold CustomResourceDefinitions. Only the files are
// used; the sum pins them.
type definitionSource struct {
	module, sum string
	files       []string
}

var definitionSources = []definitionSource{
	{
		module: "github.com/cert-manager/cert-manager@v1.21.2",
		sum:    "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		files:  []string{"deploy/crds/cert-manager.io_certificates.yaml", "deploy/crds/cert-manager.io_issuers.yaml"},
	},
	{
		module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
		sum:    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		files: []string{
			"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
			"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
		},
	},
	{
		module: "github.com/mongodb/mongodb-kubernetes-operator@v0.9.0",
		sum:    "h1:1SBmpQznWVbUgzi+ScNCNv6z5pLBwsSe4DUDKxHzFwc=",
		files:  []string{"config/crd/bases/mongodbcommunity.mongodb.com_mongodbcommunity.yaml"},
	},
}

// Definitions hold the schema of each custom resource, by "apiVersion Kind".
type Definitions map[string]definition

type definition struct {
	validator  validation.SchemaValidator
	structural *structuralschema.Structural
}

// loadDefinitions reads the definitions, and copies their files into a folder for other tools.
func loadDefinitions(output string) (Definitions, error) {
	if err := os.MkdirAll(output, 0o755); err != nil {
		return nil, err
	}
	definitions := Definitions{}
	for _, source := range definitionSources {
		folder, err := download(source)
		if err != nil {
			return nil, err
		}
		for _, file := range source.files {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				return nil, err
			}
			if err := definitions.add(text); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if err := os.WriteFile(filepath.Join(output, filepath.Base(file)), text, 0o644); err != nil {
				return nil, err
			}
		}
	}
	return definitions, nil
}

// download gets a module from the Go module proxy or the module cache, and returns its folder.
func download(source definitionSource) (string, error) {
	text, err := exec.Command("go", "mod", "download", "-json", source.module).Output()
	var found struct{ Dir, Sum, Error string }
	if parseErr := json.Unmarshal(text, &found); parseErr != nil || found.Error != "" {
		return "", fmt.Errorf("%s cannot be downloaded: %v %s", source.module, err, found.Error)
	}
	if found.Sum != source.sum {
		return "", fmt.Errorf("%s has the sum %s, not %s", source.module, found.Sum, source.sum)
	}
	return found.Dir, nil
}

func (d Definitions) add(text []byte) error {
	var resource apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &resource); err != nil {
		return err
	}
	for _, version := range resource.Spec.Versions {
		if version.Schema == nil {
			continue
		}
		var internal apiextensions.CustomResourceValidation
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			version.Schema, &internal, nil); err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		name := resource.Spec.Group + "/" + version.Name + " " + resource.Spec.Names.Kind
		d[name] = definition{validator, structural}
	}
	return nil
}

// checkCustomResources checks the objects that Kubernetes itself does not know against their
// definitions, as the API server does, but for rules in CEL. Unknown fields, which it would drop,
// are faults, too.
func checkCustomResources(objects []object, definitions Definitions) (faults []string, count int) {
	for _, each := range objects {
		var content map[string]any
		if err := yaml.Unmarshal(each.text, &content); err != nil {
			return []string{err.Error()}, count
		}
		name := fmt.Sprintf("%v %s", content["apiVersion"], each.kind)
		known, found := definitions[name]
		if !found {
			if isCustom(content) {
				faults = append(faults, fmt.Sprintf("%s/%s: there is no definition of %s", each.kind, each.name, name))
			}
			continue
		}
		count++
		for _, fault := range validation.ValidateCustomResource(nil, content, known.validator) {
			faults = append(faults, fmt.Sprintf("%s/%s: %v", each.kind, each.name, fault))
		}
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		unknown := pruning.PruneWithOptions(content, known.structural, true, options)
		sort.Strings(unknown)
		for _, path := range unknown {
			faults = append(faults, fmt.Sprintf("%s/%s: there is no field %s", each.kind, each.name, path))
		}
	}
	return faults, count
}

// isCustom says whether a group is none of Kubernetes' own, which have no dot or end in k8s.io.
func isCustom(content map[string]any) bool {
	version, _ := content["apiVersion"].(string)
	group, _, _ := strings.Cut(version, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}
