(** What the main theorems assume: nothing. Compiling this file prints it; the names are those of
    the table in README.md. They are asked together: Coq goes through the standard library anew for
    each `Print Assumptions`. *)
From Tokpar Require Import Merging Seams Vocabulary PreTokens Ids.
From Tokpar Require Import Patterns PatternPairs Rows Tables Pairs.
From Tokpar Require Import Certificates WordPiece SureCuts Longest Queue Shortcuts.
From Tokpar Require Import AddedTokens Skipped Edges Stages EndToEnd Firm Instances.
From Tokpar Require Import Untrusted Forms Clusters Offsets Aligned.

Definition main_theorems :=
  (@definition_1, @definition_1_end, @lemma_3, @lemma_4, @lemma_4_parts, @theorem_5, @theorem_5',
   @theorem_5'_boundaries, @one_common_boundary_is_not_enough, @corollary_7, @corollary_7_check,
   @lemma_24, @lemma_24_pair, @lemma_24_merging, @lemma_24_vocabulary,
   @P_definition, @theorem_14, @theorem_14_lossless, @lemma_17, @lemma_17_many, @theorem_15,
   @theorem_15_clean, @lemma_26, @theorem_43, @theorem_27, @theorem_31, @theorem_32_sound, @theorem_32,
   @theorem_32_closed, @pattern_restartable, @theorem_40, @theorem_41,
   @lemma_23, @theorem_42, @theorem_43_pairs, @families_ok, @built_in_pairs,
   @check_model_proves, @check_model_accepts, @pairs_part, @pairs_lossless,
   @theorem_4_8_bert, @theorem_4_8_metaspace,
   @longest_match_first, @checker_row_right, @theorem_33_words, @engine_words_same, @bert_words_cut, @kind_cut, @theorem_33_kinds,
   @theorem_33_proves, @theorem_33_accepts,
   @search_is_leftmost_longest, @sections_add_up, @sections_may_overlap, @theorem_6_1, @theorem_6_1_pair,
   @a_safe_computed, @theorem_6_1_needs_each_condition,
   @skipped_left_out, @theorem_29, @theorem_29_many, @edge_computed, @theorem_29_needs_each_condition,
   @lemma_55, @lemma_55_names, @lemma_56, @lemma_56_file, @lemma_57, @lemma_57_file, @lemma_58, @theorem_60, @theorem_63_last, @theorem_63_middle,
   @sure_cuts_of_stored_rows, @theorem_63_last_needs_each_condition, @theorem_63_middle_needs_each_condition, @theorem_61, @theorem_61_unique,
   @theorem_61_no_rule, @theorem_61_search, @theorem_61_found, @all_segments, @table_exact,
   @stages_apart, @split_at_right, @row_at_right, @model_apart, @theorem_50_any_model, @theorem_50, @theorem_50_needs_each_condition,
   @stages_absorb, @theorem_6_4, @theorem_6_4_needs_each_condition,
   @control_tokens_are_trusted, @untrusted_text_has_no_control_token, @good_names_computed, @a_chat,
   @names_need_each_condition,
   @normal_apart, @normal_apart_needs_each_condition, @quick_check_right, @quick_check_needs_each_condition,
   @mapped_apart, @mapped_ends, @mapped_begins, @mapped_needs_each_condition,
   @theorem_53, @theorem_53_pieces, @theorem_53_needs_each_condition,
   @aligned_apart, @theorem_53_normalized, @row_aligned_apart, @row_aligned_text, @theorem_53_normalized_needs_each_condition,
   @theorem_6_5, @truncated_parts, @theorem_6_5_needs_each_condition,
   @cut_right, @accepted_ids_are_right, @right_ids_are_accepted, @without_normalizer,
   @firm_cut_allowed, @firm_cut_right, @firm_needs_each_condition, @firm_cuts_allowed, @ids_between_firm_cuts,
   @ids_before_are_final, @ids_of_a_slice, @built_in_tokenizers, @real_tokenizers, @real_tokenizers_accept, @unigram_is_nowhere_apart,
   @theorem_20).

Print Assumptions main_theorems.
