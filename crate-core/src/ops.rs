//! The op table: the only list of ops. Palette, docs, checks, completion and tests are made from it.
//! To add an op: one file beside the others, one line here.
//!
//! Rows under `first` are in the engine that the page starts with; those under `full` join when the feature does.

/// The place of the call. A macro: the page's module is compiled without the places that functions could ask for.
macro_rules! here {
    () => {
        $crate::ops::def::Place { file: file!(), line: line!() }
    };
}

pub mod def;
mod reduce;

#[cfg(feature = "full")]
mod activation;
#[cfg(feature = "full")]
mod along;
#[cfg(feature = "full")]
mod conv;
#[cfg(feature = "full")]
mod einsum_spec;
#[cfg(feature = "full")]
mod gated;
#[cfg(feature = "full")]
mod lines;
#[cfg(feature = "full")]
mod normal;
#[cfg(feature = "full")]
mod order;
#[cfg(feature = "full")]
mod pick;
#[cfg(feature = "full")]
mod pool;
#[cfg(feature = "full")]
mod resample;
#[cfg(feature = "full")]
mod rotation;
#[cfg(feature = "full")]
mod rows;
#[cfg(feature = "full")]
mod shares;
#[cfg(feature = "full")]
mod spread;
#[cfg(feature = "full")]
mod stored;
#[cfg(feature = "full")]
mod terms;
#[cfg(feature = "full")]
mod triangle;
#[cfg(feature = "full")]
mod volume;
#[cfg(feature = "full")]
mod window;
#[cfg(feature = "full")]
mod windows;

use def::OpDef;

macro_rules! op_table {
    ($(
        first { $($module:ident => $kind:ident,)* }
        full { $($later:ident => $later_kind:ident,)* }
    )*) => {
        $(
            $(mod $module;)*
            $(#[cfg(feature = "full")] mod $later;)*
        )*

        /// A row of the table.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each row documents itself in its file")]
        pub enum OpKind {
            $(
                $($kind,)*
                $(#[cfg(feature = "full")] $later_kind,)*
            )*
        }

        impl OpKind {
            /// Every row, in the order of the table.
            pub const ALL: &[Self] = &[
                $(
                    $(Self::$kind,)*
                    $(#[cfg(feature = "full")] Self::$later_kind,)*
                )*
            ];

            /// What is known of the op.
            #[inline]
            pub const fn def(self) -> &'static OpDef {
                match self {
                    $(
                        $(Self::$kind => &$module::DEF,)*
                        $(#[cfg(feature = "full")] Self::$later_kind => &$later::DEF,)*
                    )*
                }
            }
        }
    };
}

op_table! {
    first {
        // Arithmetic.
        add => Add,
        sub => Sub,
        mul => Mul,
        div => Div,
    }
    full {
        pow => Pow,
    }
    first {
        neg => Neg,
        scale => Scale,
    }
    full {
        // Comparisons and choices.
        less => Less,
    }
    first {
        less_equal => LessEqual,
        greater => Greater,
        greater_equal => GreaterEqual,
    }
    full {
        equal => Equal,
        not_equal => NotEqual,
    }
    first {
        where_ => Where,
        clamp => Clamp,
    }
    full {
        step => Step,
    }
    first {
        relu => Relu,
    }
    full {
        // Elementwise functions.
        sqr => Sqr,
        sqrt => Sqrt,
        exp => Exp,
        log => Log,
    }
    first {
        // Reductions and their adjoints.
        sum => Sum,
        sum_rows => SumRows,
    }
    full {
        mean => Mean,
        mean_rows => MeanRows,
    }
    first {
        repeat => Repeat,
        repeat_back => RepeatBack,
    }
    full {
        softmax => Softmax,
        // Products.
        matmul => Matmul,
        mul_mat => MulMat,
    }
    first {
        // Shape and storage.
        reshape => Reshape,
    }
    full {
        transpose => Transpose,
        permute => Permute,
        slice => Slice,
        slice_back => SliceBack,
        stack => Stack,
        view => ViewOf,
        cpy => Cpy,
        cont => Cont,
    }
    first {
        stop_gradient => StopGradient,
    }
    full {
        // Elementwise functions, further.
        abs => Abs,
        sgn => Sgn,
        floor => Floor,
        ceil => Ceil,
        round => Round,
        trunc => Trunc,
        reciprocal => Reciprocal,
        rsqrt => Rsqrt,
        expm1 => Expm1,
        log1p => Log1p,
        sin => Sin,
        cos => Cos,
        erf => Erf,
        erfc => Erfc,
        maximum => Maximum,
        minimum => Minimum,
        dup => Dup,
        cast => Cast,
        // Activations.
        sigmoid => Sigmoid,
        tanh => Tanh,
        silu => Silu,
        gelu => Gelu,
        gelu_erf => GeluErf,
        gelu_quick => GeluQuick,
        elu => Elu,
        leaky_relu => LeakyRelu,
        softplus => Softplus,
        hardsigmoid => Hardsigmoid,
        hardswish => Hardswish,
        xielu => Xielu,
        // Gated linear units.
        reglu => Reglu,
        geglu => Geglu,
        geglu_erf => GegluErf,
        geglu_quick => GegluQuick,
        swiglu => Swiglu,
        swiglu_oai => SwigluOai,
        // Reductions, further.
        max => Max,
        min => Min,
        prod => Prod,
        prod_others => ProdOthers,
        prod_others_back => ProdOthersBack,
        var => Var,
        std_ => Std,
        sample_var => SampleVar,
        sample_std => SampleStd,
        logsumexp => Logsumexp,
        log_softmax => LogSoftmax,
        cumsum => Cumsum,
        argmax => Argmax,
        argmin => Argmin,
        count_equal => CountEqual,
        add1 => Add1,
        softmax_sinks => SoftmaxSinks,
        // Norms.
        rms_norm => RmsNorm,
        norm => Norm,
        layer_norm => LayerNorm,
        group_norm => GroupNorm,
        l2_norm => L2Norm,
        // What some of them send back, as ggml has it.
        silu_back => SiluBack,
        rms_norm_back => RmsNormBack,
        soft_max_back => SoftMaxBack,
        // Losses.
        cross_entropy_loss => CrossEntropyLoss,
        cross_entropy => CrossEntropy,
        bce_with_logits => BceWithLogits,
        mse_loss => MseLoss,
        // Shape, further.
        concat => Concat,
        pad => Pad,
        broadcast_to => BroadcastTo,
        expand_dims => ExpandDims,
        squeeze => Squeeze,
        flatten => Flatten,
        repeat_interleave => RepeatInterleave,
        roll => Roll,
        tri => Tri,
        tril => Tril,
        triu => Triu,
        diag_mask_zero => DiagMaskZero,
        diag_mask_inf => DiagMaskInf,
        fill => Fill,
        diag => Diag,
        diagonal => Diagonal,
        set_slice => SetSlice,
        add_slice => AddSlice,
        as_strided => AsStrided,
        as_strided_back => AsStridedBack,
        // Picking and placing.
        get_rows => GetRows,
        get_rows_back => GetRowsBack,
        set_rows => SetRows,
        set_rows_back => SetRowsBack,
        gather => Gather,
        scatter_add => ScatterAdd,
        put_along_axis_back => PutAlongAxisBack,
        put_along_axis => PutAlongAxis,
        take => Take,
        take_back => TakeBack,
        add_id => AddId,
        mul_mat_id => MulMatId,
        mul_mat_id_back => MulMatIdBack,
        argsort => Argsort,
        top_k => TopK,
        one_hot => OneHot,
        // Products, further.
        mul_mat_hadamard => MulMatHadamard,
        out_prod => OutProd,
        einsum => Einsum,
        solve_tri => SolveTri,
        outer => Outer,
        vecdot => Vecdot,
        // Images.
        patches => Patches,
        patches_back => PatchesBack,
        im2col => Im2col,
        im2col_3d => Im2col3d,
        im2col_3d_back => Im2col3dBack,
        conv_2d => Conv2d,
        conv2d => TorchConv2d,
        conv_1d => Conv1d,
        conv1d => TorchConv1d,
        max_pool_2d => MaxPool2d,
        max_pool_1d => MaxPool1d,
        avg_pool_2d => AvgPool2d,
        avg_pool_1d => AvgPool1d,
        pool_2d => Pool2d,
        pool_1d => Pool1d,
        win_part => WinPart,
        win_unpart => WinUnpart,
        upscale => Upscale,
        upscale_back => UpscaleBack,
        // Attention and positions.
        rope => Rope,
        rope_back => RopeBack,
        flash_attn_ext => FlashAttnExt,
        gated_delta_step => GatedDeltaStep,
    }
}

/// The row that stops a gradient, for fixes that offer it.
pub const STOP: OpKind = OpKind::StopGradient;

/// The row that packs a view, for fixes that offer it.
#[cfg(feature = "full")]
pub const PACK: OpKind = OpKind::Cont;

/// The row that adds everything up, for fixes that make a loss of one number.
pub const TOTAL: OpKind = OpKind::Sum;

/// The row that this name, or one of its other spellings, stands for.
pub fn by_name(name: &str) -> Option<OpKind> {
    let named = |k: &&OpKind| k.def().name == name;
    let also = |k: &&OpKind| k.def().aliases.contains(&name);
    OpKind::ALL.iter().find(named).or_else(|| OpKind::ALL.iter().find(also)).copied()
}

/// The row of a sign.
pub fn by_sign(sign: def::Sign) -> Option<OpKind> {
    OpKind::ALL.iter().find(|k| k.def().sign == Some(sign)).copied()
}

const _: () = {
    // Two rows of one name would make the second unreachable.
    let all = OpKind::ALL;
    let mut i = 0;
    while i < all.len() {
        let mut j = i + 1;
        while j < all.len() {
            assert!(!same(all[i].def().name, all[j].def().name), "two ops share a name");
            j += 1;
        }
        i += 1;
    }
};

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
