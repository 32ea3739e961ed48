package main

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// connects says whether the policies of the namespace let a connection through: the egress of its
// source and the ingress of its target. What is outside has no policies here.
func connects(policies []networkingv1.NetworkPolicy, from, to Peer, port Port) bool {
	return allowsEgress(policies, from, to, port) && allowsIngress(policies, from, to, port)
}

func allowsEgress(policies []networkingv1.NetworkPolicy, from, to Peer, port Port) bool {
	isolated := false
	for _, policy := range policies {
		if !selects(policy, from, networkingv1.PolicyTypeEgress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Egress {
			if matchesPort(rule.Ports, port) && matchesPeer(policy, rule.To, to) {
				return true
			}
		}
	}
	return !isolated
}

func allowsIngress(policies []networkingv1.NetworkPolicy, from, to Peer, port Port) bool {
	isolated := false
	for _, policy := range policies {
		if !selects(policy, to, networkingv1.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Ingress {
			if matchesPort(rule.Ports, port) && matchesPeer(policy, rule.From, from) {
				return true
			}
		}
	}
	return !isolated
}

// withoutEgress returns policies of which one opens no egress. Its pods stay isolated.
func withoutEgress(policies []networkingv1.NetworkPolicy, name string) []networkingv1.NetworkPolicy {
	reduced := slices.Clone(policies)
	for i := range reduced {
		if reduced[i].Name == name {
			reduced[i].Spec.Egress = nil
		}
	}
	return reduced
}

func selects(policy networkingv1.NetworkPolicy, peer Peer, direction networkingv1.PolicyType) bool {
	return peer.inside && slices.Contains(policy.Spec.PolicyTypes, direction) &&
		matches(&policy.Spec.PodSelector, peer.labels)
}

// matchesPort compares numbers only: conventions.go refuses names.
func matchesPort(ports []networkingv1.NetworkPolicyPort, port Port) bool {
	if len(ports) == 0 {
		return true
	}
	return slices.ContainsFunc(ports, func(allowed networkingv1.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if allowed.Protocol != nil {
			protocol = *allowed.Protocol
		}
		if protocol != port.protocol {
			return false
		}
		if allowed.Port == nil {
			return true
		}
		first := allowed.Port.IntVal
		last := first
		if allowed.EndPort != nil {
			last = *allowed.EndPort
		}
		return first <= port.number && port.number <= last
	})
}

func matchesPeer(policy networkingv1.NetworkPolicy, allowed []networkingv1.NetworkPolicyPeer, peer Peer) bool {
	if len(allowed) == 0 {
		return true
	}
	return slices.ContainsFunc(allowed, func(each networkingv1.NetworkPolicyPeer) bool {
		if each.IPBlock != nil {
			return peer.address.IsValid() && inBlock(each.IPBlock, peer.address)
		}
		if peer.address.IsValid() {
			return false
		}
		// Without a namespace selector only pods of the policy's own namespace are meant.
		if each.NamespaceSelector == nil && !peer.inside {
			return false
		}
		return matches(each.NamespaceSelector, peer.namespaceLabels) && matches(each.PodSelector, peer.labels)
	})
}

func inBlock(block *networkingv1.IPBlock, address netip.Addr) bool {
	contains := func(cidr string) bool { return netip.MustParsePrefix(cidr).Contains(address) }
	return contains(block.CIDR) && !slices.ContainsFunc(block.Except, contains)
}

// matches takes a missing selector for one that selects everything.
func matches(selector *metav1.LabelSelector, values map[string]string) bool {
	if selector == nil {
		return true
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(values))
}
