package main

import (
	"fmt"

	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// checkPodSecurity evaluates every pod template as the API server does at admission, at the level
// that the namespace's labels enforce, in the version that they name and in the latest.
func checkPodSecurity(set *Set) []string {
	if set.namespace == nil {
		return []string{"no Namespace"}
	}
	labels := set.namespace.Labels
	if level := labels[api.EnforceLevelLabel]; level != string(api.LevelRestricted) {
		return []string{fmt.Sprintf("the namespace enforces %q, not restricted", level)}
	}
	version, err := api.ParseVersion(labels[api.EnforceVersionLabel])
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", api.EnforceVersionLabel, err)}
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, enforced := range []api.Version{version, api.LatestVersion()} {
		level := api.LevelVersion{Level: api.LevelRestricted, Version: enforced}
		for _, workload := range set.workloads {
			template := workload.template
			for _, result := range evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
				if !result.Allowed {
					faults = append(faults, fmt.Sprintf("%s/%s is not restricted (%s): %s: %s",
						workload.kind, workload.name, enforced.String(), result.ForbiddenReason, result.ForbiddenDetail))
				}
			}
		}
	}
	return faults
}
