(** What each main theorem assumes: nothing. Compiling this file prints it; the names are those of
    the table in README.md. *)
From Tokpar Require Import Merging Seams Runs Vocabulary PreTokens Patterns Digits Families.

Print Assumptions definition_1.
Print Assumptions definition_1_end.
Print Assumptions lemma_3.
Print Assumptions lemma_4.
Print Assumptions lemma_4_parts.
Print Assumptions theorem_5.
Print Assumptions theorem_5'.
Print Assumptions theorem_5'_boundaries.
Print Assumptions one_common_boundary_is_not_enough.
Print Assumptions corollary_7.
Print Assumptions corollary_7_check.
Print Assumptions corollary_8.
Print Assumptions theorem_11.
Print Assumptions lemma_24.
Print Assumptions lemma_24_pair.
Print Assumptions lemma_24_merging.
Print Assumptions lemma_24_vocabulary.
Print Assumptions P_definition.
Print Assumptions theorem_14.
Print Assumptions theorem_14_lossless.
Print Assumptions lemma_17.
Print Assumptions lemma_17_many.
Print Assumptions theorem_15.
Print Assumptions theorem_15_clean.
Print Assumptions pattern_restartable.
Print Assumptions theorem_18.
Print Assumptions theorem_18_computed.
Print Assumptions theorem_20_gpt2.
Print Assumptions theorem_20_cl100k.
Print Assumptions theorem_20_cl100k_tiktoken.
Print Assumptions theorem_22.
Print Assumptions theorem_22_cl100k.
Print Assumptions theorem_22_cl100k_tiktoken.
Print Assumptions ascii_sound.
